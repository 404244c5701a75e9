import type { Command } from '../command.ts';
import { clusterDemo, keepFlag } from './cluster-demo.ts';

const tries = [
  'kubectl -n shop get daemonsets,statefulsets,pods',
  'kubectl -n shop rollout restart daemonset proxy',
  'dkc why daemonset shop/proxy',
];

export const demoControllers: Command = {
  describe: `Runs a guided demo of the DaemonSet and StatefulSet controllers on this machine, in under a minute, without root: an in-memory API server, simulated nodes, the controllers and the scheduler, all in this process. A DaemonSet is rolled out with maxUnavailable and maxSurge, paused, stopped by an image that does not exist, and undone. A StatefulSet is updated two pods at a time, recovers from a bad revision, and its volumes grow. dkc why daemonset and dkc why statefulset show what each waits for.

With --keep everything stays up afterwards, for your own kubectl and dkc, until Ctrl-C. Nothing is left behind. Exits with 1 if a step does not end as described.`,
  examples: [
    { run: 'dkc demo controllers', what: 'the whole demo' },
    { run: 'dkc demo controllers --keep', what: 'the same, and keep the cluster' },
  ],
  flags: [keepFlag],
  positionals: [],
  async run(context, args) {
    const { tellControllers } = await import('./controllers-story.ts');
    return clusterDemo(context, tellControllers, args.on('keep'), tries);
  },
};
