import type { TestContext } from 'node:test';
import { controllersRun } from '../../../../cli/controllers/command.ts';
import { type Makers, runControllers } from '../../../../cli/controllers/run.ts';
import { type ControllerName, controllersSettings } from '../../../../cli/controllers/settings.ts';
import {
  controllerRevisions,
  daemonSets,
  nodes,
  persistentVolumeClaims,
  pods,
  statefulSets,
  storageClasses,
} from '../../../../kube/api/object.ts';
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
  const made = (name: ControllerName, { informers }: Runtime): Runnable => {
    for (const kind of reads[name]) informers.of(kind);
    return {
      name,
      run: async (signal) => {
        seen.working = [...(seen.working ?? []), name].toSorted();
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        seen.working = seen.working.filter((one) => one !== name);
      },
    };
  };
  return {
    daemonset: (runtime, options) => {
      seen.daemonset = options;
      return made('daemonset', runtime);
    },
    statefulset: (runtime, options) => {
      seen.statefulset = options;
      return made('statefulset', runtime);
    },
    rollout: (runtime, options) => {
      seen.rollout = options;
      return made('rollout', runtime);
    },
    page: fleetPage,
  };
}

/** `dkc controllers run ARGV` in this process. */
export function start(
  t: TestContext,
  argv: readonly string[],
  { makers = idle(), env = {}, serviceAccount }: { makers?: Makers; env?: Record<string, string>; serviceAccount?: string } = {},
): Running {
  const command = {
    ...controllersRun,
    run: (...[context, args]: Parameters<typeof controllersRun.run>) =>
      runControllers(context, controllersSettings(args), makers, serviceAccount),
  };
  return startLong(t, { name: 'controllers run', argv, command, env });
}
