import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ControlPlane } from '../../../support/real-parts/control-plane.ts';
import type { Release } from '../../../support/real-parts/release.ts';
import { root, startProcess } from '../cluster/subject.ts';
import type { Place, Subject } from '../cluster/subject.ts';
import { kubeScheduler } from './kube-scheduler.ts';

/** Whose scheduler works: upstream's, or ours as people run it. */
type SchedulerKind = 'kube-scheduler' | 'dkc';

interface SchedulerOptions {
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
}

const commonScorers = ['ImageLocality', 'InterPodAffinity', 'NodeAffinity', 'PodTopologySpread', 'TaintToleration'];

/** Scorers that give the same points in either: 1.20 counts balanced allocation otherwise. By the names of ours. */
const alikeIn = ({ minor }: Release): string[] => [
  'NodeResourcesFit',
  ...(minor < 36 ? [] : ['NodeResourcesBalancedAllocation']),
  ...commonScorers,
];

/** What kube-scheduler of a release calls our plugins, where it has other names. */
export const upstreamNames = ({ minor }: Release): Readonly<Record<string, string>> =>
  minor < 22 ? { NodeResourcesFit: 'NodeResourcesLeastAllocated' } : {};

/** Starts a scheduler that looks at every node and waits for no limit of its own; it works when this returns. */
export function startScheduler(kind: SchedulerKind, plane: ControlPlane, options: SchedulerOptions = {}): Promise<Subject> {
  return startProcess(kind, plane, async (place) => {
    const plan = kind === 'dkc' ? await ours(plane, place, options) : await upstreams(plane, place, options);
    return { ...plan, args: [...plan.args, ...(options.more ?? [])] };
  });
}

/** The configuration of ours, as YAML. */
export function ourConfig(
  { release }: Pick<ControlPlane, 'release'>,
  { schedulerName = 'default-scheduler', comparable = false, config = {} }: SchedulerOptions,
): string {
  const equal = {
    NodeResourcesBalancedAllocation: { enabled: false },
    ...Object.fromEntries(alikeIn(release).map((name) => [name, { weight: 1 }])),
  };
  return stringify({
    profiles: [{ schedulerName, ...(comparable ? { plugins: equal } : {}) }],
    ...(comparable ? { preemption: { enabled: false } } : {}),
    leaderElection: { enabled: false },
    ...config,
  });
}

async function ours(plane: ControlPlane, { home, kubeconfig, port }: Place, options: SchedulerOptions) {
  const file = join(home, 'scheduler.yaml');
  await writeFile(file, ourConfig(plane, options));
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
  const profile = { schedulerName, ...(comparable ? { plugins: equalPlugins(plane.release) } : {}) };
  // The points of every node in its log, and nothing else of that level.
  const more = comparable ? [`--vmodule=${plane.release.minor < 22 ? 'generic_scheduler' : 'schedule_one'}=10`] : [];
  return kubeScheduler({ plane, home, kubeconfig, port, config: { percentageOfNodesToScore: 100, profiles: [profile] }, more });
}

function equalPlugins(release: Release) {
  const names = upstreamNames(release);
  const all = [{ name: '*' }];
  return {
    score: { disabled: all, enabled: alikeIn(release).map((name) => ({ name: names[name] ?? name, weight: 1 })) },
    postFilter: { disabled: all },
  };
}
