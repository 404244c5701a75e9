import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ControlPlane } from '../../../support/real-parts/control-plane.ts';
import { root, startProcess } from '../cluster/subject.ts';
import type { Place, Subject } from '../cluster/subject.ts';
import { kubeScheduler } from './kube-scheduler.ts';

/** Whose scheduler works: upstream's, or ours as people run it. */
export type SchedulerKind = 'kube-scheduler' | 'dkc';

export interface SchedulerOptions {
  /** Whose pods it places. @default 'default-scheduler' */
  schedulerName?: string;
  /**
   * Every scorer counts once, but those whose formulas differ by version, which are off; nobody is preempted. So both give a node the same points.
   * @default false: weights as they come
   */
  comparable?: boolean;
  /** Ours: over the configuration. */
  config?: Record<string, unknown>;
  /** Flags besides. */
  more?: readonly string[];
  /** Instead of the control plane's own, such as one that leads through a proxy. YAML. */
  kubeconfig?: string;
}

/** Scorers that give the same points in either version, by the names of each. */
const alike: Record<SchedulerKind, readonly string[]> = {
  'kube-scheduler': [
    'NodeResourcesLeastAllocated',
    'ImageLocality',
    'InterPodAffinity',
    'NodeAffinity',
    'PodTopologySpread',
    'TaintToleration',
  ],
  dkc: ['NodeResourcesFit', 'ImageLocality', 'InterPodAffinity', 'NodeAffinity', 'PodTopologySpread', 'TaintToleration'],
};

/** Starts a scheduler that looks at every node and waits for no limit of its own; it works when this returns. */
export function startScheduler(kind: SchedulerKind, plane: ControlPlane, options: SchedulerOptions = {}): Promise<Subject> {
  const access = { ca: plane.ca, kubeconfig: () => options.kubeconfig ?? plane.kubeconfig() };
  return startProcess(kind, access, async (place) => {
    const plan = kind === 'dkc' ? await ours(place, options) : await upstreams(plane, place, options);
    return { ...plan, args: [...plan.args, ...(options.more ?? [])] };
  });
}

/** The configuration of ours, as YAML. */
export function ourConfig({ schedulerName = 'default-scheduler', comparable = false, config = {} }: SchedulerOptions): string {
  const equal = {
    ...Object.fromEntries(alike.dkc.map((name) => [name, { weight: 1 }])),
    NodeResourcesBalancedAllocation: { enabled: false },
  };
  return stringify({
    profiles: [{ schedulerName, ...(comparable ? { plugins: equal } : {}) }],
    ...(comparable ? { preemption: { enabled: false } } : {}),
    leaderElection: { enabled: false },
    ...config,
  });
}

async function ours({ home, kubeconfig, port }: Place, options: SchedulerOptions) {
  const file = join(home, 'scheduler.yaml');
  await writeFile(file, ourConfig(options));
  const flags = [`--config=${file}`, `--kubeconfig=${kubeconfig}`, `--metrics-bind-address=127.0.0.1:${port}`];
  return {
    program: process.execPath,
    args: [join(root, 'cli/main.ts'), 'scheduler', 'run', ...flags],
    ready: { url: `http://127.0.0.1:${port}/readyz` },
  };
}

function upstreams(
  plane: ControlPlane,
  { home, kubeconfig, port }: Place,
  { schedulerName = 'default-scheduler', comparable = false }: SchedulerOptions,
) {
  const profile = { schedulerName, ...(comparable ? { plugins: equalPlugins() } : {}) };
  // The points of every node in its log, and nothing else of that level.
  const more = comparable ? ['--vmodule=generic_scheduler=10'] : [];
  return kubeScheduler({ plane, home, kubeconfig, port, config: { percentageOfNodesToScore: 100, profiles: [profile] }, more });
}

function equalPlugins() {
  const all = [{ name: '*' }];
  return {
    score: { disabled: all, enabled: alike['kube-scheduler'].map((name) => ({ name, weight: 1 })) },
    postFilter: { disabled: all },
  };
}
