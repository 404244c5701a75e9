import { story, type Story } from '../story.ts';
import type { Stage } from './stage.ts';

/** From one template to another, and back. */
export const rollouts: readonly Story<Stage>[] = [
  story('rolls-by-percent', { anyNode: true }, async (s) => {
    await s.running(5, { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: '30%' } } } });
    await s.image('hollow/unready:2');
    await s.shows({ desired: 5, updated: 2, available: 3 }); // 1.5 rounded up
    await s.rolls('app:3');
  }),
  story('bad-image-then-undone', { anyNode: true }, async (s) => {
    await s.running(3);
    const before = new Set(s.pods().map(({ metadata }) => metadata.uid));
    await s.image('hollow/crash:2');
    await s.shows({ desired: 3, updated: 1, available: 2 });
    await s.undo(1);
    await s.rolledOut();
    s.note(`${s.pods().filter(({ metadata }) => before.has(metadata.uid)).length} pods were never restarted`);
  }),
  story('undone-twice', async (s) => {
    await s.running(2);
    await s.rolls('app:2');
    await s.rolls('app:3');
    await s.undo(1);
    await s.rolledOut();
    await s.undo(2);
    await s.rolledOut();
  }),
  story('on-delete', async (s) => {
    await s.running(3, { spec: { updateStrategy: { type: 'OnDelete' } } });
    await s.image('app:2');
    await s.shows({ desired: 3, updated: 0, available: 3 });
    await s.deletePod(s.podOn(1));
    await s.shows({ desired: 3, updated: 1, available: 3 });
    await s.patch({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } } } });
    await s.rolledOut();
  }),
  story('restarted', async (s) => {
    await s.running(2, { annotations: { team: 'a' } });
    await s.patch({ spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } } });
    await s.rolledOut();
    await s.patch({ metadata: { annotations: { team: 'b' }, labels: { of: 'us' } } });
    await s.quiet();
  }),
  story('history-limit', async (s) => {
    await s.running(1, { spec: { revisionHistoryLimit: 2 } });
    for (const tag of [2, 3, 4, 5]) await s.rolls(`app:${tag}`);
    await s.until('old revisions go', () => s.revisions().length === 3);
    await s.patch({ spec: { revisionHistoryLimit: 0 } });
    await s.until('all old revisions go', () => s.revisions().length === 1);
    await s.quiet();
  }),
  story('history-in-use', async (s) => {
    await s.running(2, { spec: { revisionHistoryLimit: 0, updateStrategy: { type: 'OnDelete' } } });
    await s.image('app:2');
    await s.shows({ desired: 2, updated: 0 });
    await s.deletePod(s.podOn(0));
    await s.shows({ desired: 2, updated: 1, available: 2 });
    await s.image('app:3');
    await s.shows({ desired: 2, updated: 0 });
    s.note(`${s.revisions().length} revisions in use`);
    await s.deletePod(s.podOn(1));
    await s.until('what nobody uses goes', () => s.revisions().length === 2);
    await s.shows({ desired: 2, updated: 1, available: 2 });
  }),
  story('min-ready-seconds', async (s) => {
    await s.nodes(2);
    // Longer than anything holds up the controller or whoever looks: else nobody sees it.
    await s.create({ spec: { minReadySeconds: 6 } });
    await s.until('ready, and not available', () => (s.set().status?.numberReady ?? 0) > (s.set().status?.numberAvailable ?? 0));
    await s.rolledOut();
    await s.rolls('app:2');
  }),
  story('unready-and-back', async (s) => {
    await s.running(3);
    const pod = s.podOn(2);
    await s.behave(pod, 'unready');
    await s.shows({ desired: 3, ready: 2, available: 2 });
    await s.image('app:2'); // the unready one counts against the budget, and goes first
    await s.rolledOut();
    s.note(s.isGone(pod) ? 'replaced' : 'kept');
  }),
  story('rolls-beside-a-dead-node', async (s) => {
    await s.running(3, { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } } });
    const stuck = s.podOn(0);
    await s.behave(stuck, 'unready'); // as the node lifecycle controller says of pods whose node is silent
    await s.shows({ desired: 3, available: 2 });
    await s.kubelet(0, 'dead');
    await s.image('app:2');
    await s.until('the stuck one ends', () =>
      s.pods().some(({ metadata }) => metadata.uid === stuck.metadata.uid && metadata.deletionTimestamp),
    );
    await s.shows({ desired: 3, updated: 2, available: 2 });
    s.note(`${s.pods().length} pods while it is stuck`);
    await s.kubelet(0, 'alive');
    await s.rolledOut();
  }),
];
