import assert from 'node:assert/strict';
import type { Stage } from './stage.ts';
import { story, type Story } from '../story.ts';

/** What a kube-controller-manager does not know: our annotations. */
export const extensions: readonly Story<Stage>[] = [
  story('stalled', async (s) => {
    await s.running(2, { annotations: { 'dkc.dev/progress-deadline': '20s' } });
    await s.image('hollow/unready:2');
    await s.condition('Progressing True PodsUpdating');
    await s.condition('Stalled True NotReady');
    await s.condition('Progressing False ProgressDeadlineExceeded');
    await s.image('app:3');
    await s.condition('Stalled False NotStalled');
    await s.condition('Progressing True RolloutComplete');
    await s.rolledOut();
  }),
  story('partition', async (s) => {
    await s.running(5, {
      annotations: { 'dkc.dev/partition': '2' },
      spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } },
    });
    await s.image('app:2');
    await s.shows({ updated: 3, available: 5 });
    assert.deepEqual(s.images(), ['app:2', 'app:2', 'app:2', 'app:1', 'app:1']);
    // A node that is kept and loses its pod gets one of the old revision again.
    const kept = s.podOn(3);
    await s.deletePod(kept);
    await s.until('it is replaced', () => s.isGone(kept));
    await s.shows({ updated: 3, available: 5 });
    await s.taint(4, 'busy=yes:NoExecute');
    await s.shows({ desired: 4, updated: 3, available: 4 }); // nobody is taken back for it
    await s.taint(4);
    await s.shows({ desired: 5, updated: 3, available: 5 });
    await s.annotate({ partition: '0' });
    await s.rolledOut();
  }),
];
