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
  story('partitioned-beyond-replicas', async (s) => {
    await s.running({ replicas: 2 });
    await s.partition(7);
    await s.image('app:2');
    await s.shows({ updated: 0, current: 2, ready: 2 });
    await s.scale(3);
    await s.shows({ updated: 0, current: 3, ready: 3 });
    await s.rolls('app:1');
  }),
  story('partitioned-and-scaled', async (s) => {
    await s.running({ replicas: 2, spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } } });
    await s.image('app:2');
    await s.shows({ updated: 1, current: 1, ready: 2 });
    await s.scale(4);
    await s.shows({ updated: 3, current: 1, ready: 4 });
    await s.scale(1);
    await s.shows({ replicas: 1, updated: 0, current: 1 });
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
  story('on-delete-to-rolling', async (s) => {
    await s.running({ spec: { updateStrategy: { type: 'OnDelete' } } });
    await s.image('app:2');
    await s.shows({ updated: 0, current: 3 });
    await s.patch({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } } });
    await s.rolledOut();
  }),
  ...(['unpullable', 'unready', 'crash'] as const).map((bad) =>
    story(`stuck-${bad}`, async (s: Stage) => {
      await s.running();
      await s.image(`hollow/${bad}:2`);
      await s.shows({ updated: 1, ready: 2 });
      await s.image('app:3');
      await s.shows({ updated: 0, ready: 2 });
      s.note(`${s.pod(2).spec?.containers[0]?.image} still`);
      await s.deletePod(s.pod(2));
      await s.rolledOut();
    }),
  ),
  story('stuck-and-rolled-back', async (s) => {
    await s.running();
    await s.image('hollow/unready:2');
    await s.shows({ updated: 1, ready: 2 });
    await s.image('app:1');
    await s.shows({ ready: 2 });
    s.note(`${s.pod(2).spec?.containers[0]?.image} still`);
    await s.deletePod(s.pod(2));
    await s.rolledOut();
  }),
  story('stuck-and-freed-too-early', async (s) => {
    await s.running({ replicas: 2 });
    await s.image('hollow/unready:2');
    await s.shows({ updated: 1, ready: 1 });
    await s.replacePod(s.pod(1));
    await s.shows({ updated: 1, ready: 1 });
    await s.replacePod(s.pod(0)); // the old one, and it comes back new
    await s.shows({ updated: 2, ready: 0 });
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
  story('three-edits-while-stuck', async (s) => {
    await s.running();
    await s.image('hollow/unready:2');
    await s.shows({ updated: 1, ready: 2 });
    for (const image of ['hollow/crash:3', 'app:4']) {
      const before = s.revisions().length;
      await s.image(image);
      await s.until('there is a revision of it', () => s.revisions().length > before);
    }
    await s.shows({ updated: 0, ready: 2 });
    await s.deletePod(s.pod(2));
    await s.rolledOut();
  }),
  story('three-edits-in-a-row', async (s) => {
    await s.running({ parallel: true, replicas: 2 });
    for (const tag of [2, 3, 4]) {
      const before = s.pod(1);
      await s.image(`hollow/unready:${tag}`);
      await s.replaced(before);
    }
    await s.rolls('app:5');
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
  story('low-pod-deleted-in-a-rollout', async (s) => {
    await s.running();
    await s.image('hollow/unready:2');
    await s.shows({ updated: 1, current: 2, ready: 2 });
    await s.replacePod(s.pod(0));
    await s.shows({ updated: 2, current: 1, ready: 1 });
  }),
  story('restarted', async (s) => {
    await s.running({ replicas: 2 });
    const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' };
    await s.patch({ spec: { template: { metadata: { annotations } } } });
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
