import { story, type Story } from '../story.ts';
import type { Stage } from './stage.ts';

/** Pods that fail, end, vanish or are there twice. */
export const podsGoneWrong: readonly Story<Stage>[] = [
  story('failed', async (s) => {
    await s.running(2);
    for (let times = 0; times < 3; times++) {
      const pod = s.podOn(0);
      await s.behave(pod, 'failed:Evicted');
      await s.until('it is replaced', () => s.isGone(pod) && s.pods().length === 2);
      await s.rolledOut();
    }
  }),
  story('failed-and-held', async (s) => {
    await s.running(1);
    const pod = s.podOn(0);
    await s.patchPod(pod, { metadata: { finalizers: ['example.com/held'] } });
    await s.behave(pod, 'failed:Evicted');
    await s.until('it ends', () => s.pods().some(({ metadata }) => metadata.deletionTimestamp !== undefined));
    await s.quiet();
    s.note(`${s.pods().length} pods while it is held`);
    await s.patchPod(pod, { metadata: { finalizers: null } });
    await s.until('it is gone', () => s.isGone(pod));
    await s.rolledOut();
  }),
  story('succeeded', async (s) => {
    await s.running(2);
    await s.behave(s.podOn(1), 'succeeded');
    await s.until('it is over', () => s.set().status?.numberReady !== 2 || s.pods().every(({ status }) => status?.phase === 'Running'));
    await s.quiet();
  }),
  story('all-deleted-by-hand', async (s) => {
    await s.running(4);
    const all = s.pods();
    await Promise.all(all.map((pod) => s.deletePod(pod)));
    await s.until('they are replaced', () => all.every((pod) => s.isGone(pod)) && s.pods().length === 4);
    await s.rolledOut();
  }),
  story('deleted-on-a-dead-node', async (s) => {
    await s.running(2);
    const pod = s.podOn(0);
    await s.kubelet(0, 'dead');
    await s.deletePod(pod);
    await s.quiet();
    s.note(`${s.pods().length} pods while it is stuck`);
    await s.kubelet(0, 'alive');
    await s.until('it is gone', () => s.isGone(pod));
    await s.rolledOut();
  }),
  story('twice-on-a-node', async (s) => {
    await s.running(2);
    const { metadata, spec } = s.podOn(0);
    const { labels = {}, ownerReferences = [] } = metadata;
    if (spec === undefined) throw new Error('a pod without a spec');
    await s.createPod({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'second', namespace: s.name, labels, ownerReferences }, spec });
    await s.until('one is left', () => s.pods().length === 2);
    await s.rolledOut();
    s.note(`left: ${s.pods().some((pod) => pod.metadata.name === 'second') ? 'the second' : 'the first'}`);
  }),
];
