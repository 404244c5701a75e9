import type { Stage } from './stage.ts';
import { story, type Story } from '../story.ts';

/** From one template to the next. */
export const rollouts: readonly Story<Stage>[] = [
  ...([true, false] as const).map((parallel) =>
    story(parallel ? 'rolls-parallel' : 'rolls', parallel ? { anyOrder: true } : {}, async (s: Stage) => {
      await s.running({ parallel });
      await s.rolls('app:2');
    }),
  ),
  story('partitioned', async (s) => {
    await s.running({ replicas: 4 });
    await s.partition(2);
    await s.image('app:2');
    await s.shows({ updated: 2, current: 2, ready: 4 });
    await s.replacePod(s.pod(0)); // below the partition it comes back as it was
    await s.shows({ updated: 2, current: 2, ready: 4 });
    await s.partition(1);
    await s.shows({ updated: 3, current: 1, ready: 4 });
    await s.partition(0);
    await s.rolledOut();
  }),
  story('rolled-back', async (s) => {
    await s.running();
    await s.rolls('app:2');
    await s.rolls('app:1');
    await s.undo(2);
    await s.rolledOut();
    s.note(`revisions ${s.revisionNumbers().join()}`);
  }),
  story('on-delete', async (s) => {
    await s.running({ spec: { updateStrategy: { type: 'OnDelete' } } });
    await s.image('app:2');
    await s.shows({ updated: 0, current: 3 });
    await s.replacePod(s.pod(1));
    await s.shows({ updated: 1, current: 2, ready: 3 });
    await s.scale(4);
    await s.shows({ updated: 2, current: 2, ready: 4 });
    for (const n of [0, 2]) {
      await s.replacePod(s.pod(n));
      await s.shows({ ready: 4 });
    }
    await s.shows({ updated: 4, ready: 4 });
    await s.nudge();
    await s.quiet();
  }),
  story('stuck', async (s) => {
    await s.running();
    await s.image('hollow/crash:2');
    await s.shows({ updated: 1, ready: 2 });
    await s.image('app:3');
    await s.shows({ updated: 0, ready: 2 });
    s.note(`${s.pod(2).spec?.containers[0]?.image} still`);
    await s.deletePod(s.pod(2));
    await s.rolledOut();
  }),
  story('stuck-from-the-beginning', async (s) => {
    await s.create({ image: 'hollow/unpullable:1' });
    await s.shows({ replicas: 1, ready: 0 });
    await s.image('app:2');
    await s.shows({ replicas: 1, ready: 0, updated: 0 });
    await s.deletePod(s.pod(0));
    await s.rolledOut();
  }),
  story('stuck-parallel-frees-itself', { anyOrder: true }, async (s) => {
    await s.running({ parallel: true });
    await s.image('hollow/unready:2');
    await s.shows({ updated: 1, ready: 2 });
    await s.rolls('app:3');
  }),
  story('scaled-while-rolling', { anyOrder: true }, async (s) => {
    await s.running({ replicas: 2 });
    await s.patch({ spec: { replicas: 4, template: { spec: { containers: [{ name: 'main', image: 'app:2' }] } } } });
    await s.rolledOut();
    await s.image('hollow/unready:3');
    await s.shows({ updated: 1, ready: 3 });
    await s.scale(2);
    await s.shows({ replicas: 2, updated: 1, ready: 1 });
    await s.image('app:4');
    await s.quiet();
    await s.deletePod(s.pod(1));
    await s.rolledOut();
  }),
  story('no-rolling-update-block', async (s) => {
    await s.running({ spec: { updateStrategy: { type: 'RollingUpdate' } } });
    await s.image('hollow/unready:2');
    await s.shows({ updated: 1, current: 2, ready: 2 });
    await s.replacePod(s.pod(0));
    await s.shows({ updated: 1, current: 2, ready: 2 });
    s.note(`web-0 came back as ${s.pod(0).spec?.containers[0]?.image}`);
    await s.behave(s.pod(2), 'ready');
    await s.shows({ updated: 2, current: 1, ready: 2 });
    await s.behave(s.pod(1), 'ready');
    await s.shows({ updated: 3, ready: 2 });
    await s.behave(s.pod(0), 'ready');
    await s.rolledOut();
  }),
  story('only-metadata-of-the-set', async (s) => {
    await s.running({ replicas: 1, annotations: { 'kubernetes.io/change-cause': 'first' } });
    await s.patch({ metadata: { annotations: { 'kubernetes.io/change-cause': 'second' }, labels: { team: 'a' } } });
    await s.quiet();
    await s.rolls('app:2');
  }),
  story('history-limit', async (s) => {
    await s.running({ replicas: 1, spec: { revisionHistoryLimit: 2 } });
    for (const tag of [2, 3, 4, 5]) await s.rolls(`app:${tag}`);
    await s.until('old revisions go', () => s.revisions().length === 3);
  }),
  story('history-in-use', async (s) => {
    await s.running({ spec: { revisionHistoryLimit: 0, updateStrategy: { type: 'OnDelete' } } });
    for (const [n, tag] of [2, 3].entries()) {
      await s.image(`app:${tag}`);
      await s.shows({ updated: 0 });
      await s.replacePod(s.pod(n));
      await s.shows({ updated: 1, ready: 3 });
    }
    await s.image('app:4');
    await s.shows({ updated: 0, ready: 3 });
    s.note(`${s.revisions().length} revisions in use`);
    await s.replacePod(s.pod(0));
    await s.shows({ updated: 1, ready: 3 });
    await s.nudge();
    await s.quiet();
  }),
];
