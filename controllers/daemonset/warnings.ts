import type { Told } from '../common/news.ts';
import type { Rules } from './rules.ts';

/** What the author of a set should know, for as long as it is so. */
export function warningsOf({ optIns, surging, template }: Rules): Told[] {
  const warnings = optIns.problems.map((problem): Told => ({
    type: 'Warning',
    reason: 'InvalidAnnotation',
    message: `No pods are replaced, for an annotation cannot be read: ${problem}`,
  }));
  const port = surging ? hostPort(template) : undefined;
  if (port !== undefined)
    warnings.push({
      type: 'Warning',
      reason: 'HostPortWithSurge',
      message: `Updates with maxSurge cannot end: a new pod cannot run beside the old one, which has host port ${port}; use maxUnavailable`,
    });
  return warnings;
}

function hostPort({ spec }: Rules['template']): number | undefined {
  for (const { ports = [] } of spec?.containers ?? [])
    for (const { hostPort, containerPort } of ports) {
      if (hostPort !== undefined && hostPort > 0) return hostPort;
      if (spec?.hostNetwork === true) return containerPort;
    }
  return undefined;
}
