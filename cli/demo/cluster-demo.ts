import { once } from 'node:events';
import { describeError } from '../../base/errors.ts';
import { type Command, type Context, type Exit, fine, type Flag, wrong } from '../command.ts';
import type { DemoCluster } from './cluster/demo-cluster.ts';
import { aliasLine, Narrator } from './narrator.ts';

const keepFlag: Flag = { name: 'keep', type: 'boolean', text: 'keep everything up until Ctrl-C' };

const controllersTries = [
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
    const { controllersStory } = await import('./controllers-story.ts');
    return clusterDemo(context, controllersStory, args.on('keep'), controllersTries);
  },
};

const schedulerTries = ['kubectl -n shop get pods -o wide', 'kubectl -n shop rollout restart statefulset db', 'dkc why pod shop/report'];

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
    const { schedulerStory } = await import('./scheduler-story.ts');
    return clusterDemo(context, schedulerStory, args.on('keep'), schedulerTries);
  },
};

/** Plays a scenario on one cluster. `undo` disposes of what it creates. @throws as soon as a step does not happen as described */
type ClusterStory = (context: Context, narrator: Narrator, undo: AsyncDisposableStack) => Promise<DemoCluster>;

/** @param tries - command lines suggested to the user if `keep` leaves the cluster up */
export async function clusterDemo(context: Context, story: ClusterStory, keep: boolean, tries: readonly string[]): Promise<Exit> {
  const narrator = new Narrator(context);
  await using undo = new AsyncDisposableStack();
  let cluster: DemoCluster;
  try {
    cluster = await story(context, narrator, undo);
  } catch (error) {
    context.signal.throwIfAborted();
    return wrong(`the demo failed: ${describeError(error)}`);
  }
  context.stdout.write(`\nDone in ${narrator.seconds} s.\n`);
  if (!keep) return fine;
  const lines = [`export KUBECONFIG=${cluster.kubeconfig}`, aliasLine(), ...tries].map((line) => `  ${line}\n`).join('');
  context.stdout.write(`\nEverything stays up until Ctrl-C. In another shell:\n\n${lines}`);
  if (!context.signal.aborted) await once(context.signal, 'abort');
  return fine;
}
