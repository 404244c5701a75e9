import type { Command } from '../command.ts';
import { clusterDemo, keepFlag } from './cluster-demo.ts';

const tries = ['kubectl -n shop get pods -o wide', 'kubectl -n shop rollout restart statefulset db', 'dkc why pod shop/report'];

export const demoScheduler: Command = {
  describe: `Runs a guided demo of the scheduler on this machine, in under a minute, without root: an in-memory API server, simulated nodes, the StatefulSet controller and the scheduler, all in this process. Three nodes are full with a StatefulSet and 18 pods of a Deployment that wants 200. A rolling update of the StatefulSet gets stuck without reservations and completes with them, a pod of higher priority preempts another, and dkc why pod shows why a pod is not scheduled.

With --keep everything stays up afterwards, for your own kubectl and dkc, until Ctrl-C. Nothing is left behind. Exits with 1 if a step does not end as described.`,
  examples: [
    { run: 'dkc demo scheduler', what: 'the whole demo' },
    { run: 'dkc demo scheduler --keep', what: 'the same, and keep the cluster' },
  ],
  flags: [keepFlag],
  positionals: [],
  async run(context, args) {
    const { tellScheduler } = await import('./scheduler-story.ts');
    return clusterDemo(context, tellScheduler, args.on('keep'), tries);
  },
};
