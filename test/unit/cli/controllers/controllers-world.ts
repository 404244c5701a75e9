import type { TestContext } from 'node:test';
import { controllersRun } from '../../../../cli/controllers/command.ts';
import { type Makers, runControllers } from '../../../../cli/controllers/run.ts';
import { type ControllerName, controllersSettings } from '../../../../cli/controllers/settings.ts';
import { controllerRevisions, daemonSets, nodes, persistentVolumeClaims, pods, statefulSets, storageClasses } from '../../../../kube/api/object.ts'; // prettier-ignore
import { type Running, startLong } from '../process/long-world.ts';
import type { DaemonSetOptions, StatefulSetOptions } from '../../../../controllers/common/types.ts';
import { rollouts } from '../../../../controllers/rollout/types.ts';
import type { ServerFacts } from '../../../../controllers/fleet/server-facts.ts';
import { fleetPage } from '../../../../controllers/page/page.ts';
import type { RolloutOptions } from '../../../../controllers/rollout/observe.ts';
import type { Runnable, Runtime } from '../../../../kube/process/contract.ts';

/** What controllers that do nothing were told, and which of them are at work. */
export interface Seen {
  daemonset?: DaemonSetOptions;
  statefulset?: StatefulSetOptions;
  rollout?: RolloutOptions & { serves: ServerFacts };
  working?: string[];
}

const reads = {
  daemonset: [daemonSets, pods, nodes, controllerRevisions],
  statefulset: [statefulSets, pods, persistentVolumeClaims, controllerRevisions, storageClasses],
  rollout: [rollouts],
};

/** They read what the controllers read, and do nothing. */
export function idle(seen: Seen = {}): Makers {
  const made = (name: ControllerName, { informers }: Runtime, told: Seen): Runnable => {
    Object.assign(seen, told);
    for (const kind of reads[name]) informers.of(kind);
    const run = async (signal: AbortSignal): Promise<void> => {
      seen.working = [...(seen.working ?? []), name].toSorted();
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      seen.working = seen.working.filter((one) => one !== name);
    };
    return { name, run };
  };
  return {
    daemonset: (runtime, daemonset) => made('daemonset', runtime, { daemonset }),
    statefulset: (runtime, statefulset) => made('statefulset', runtime, { statefulset }),
    rollout: (runtime, rollout) => made('rollout', runtime, { rollout }),
    page: fleetPage,
  };
}

/** `dkc controllers run ARGV` in this process. */
export function start(
  t: TestContext,
  argv: readonly string[],
  { makers = idle(), env = {}, serviceAccount }: { makers?: Makers; env?: Record<string, string>; serviceAccount?: string } = {},
): Running {
  const run = (...[context, args]: Parameters<typeof controllersRun.run>) =>
    runControllers(context, controllersSettings(args), makers, serviceAccount);
  const command = { ...controllersRun, run };
  return startLong(t, { name: 'controllers run', argv, command, env });
}
