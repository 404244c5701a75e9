import assert from 'node:assert/strict';
import type { Stage } from './stage.ts';
import { story, type Story } from '../story.ts';

const surge = { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };

/** While `act` lasts, so many available pods are there at the least. */
async function never(s: Stage, below: number, act: () => Promise<void>): Promise<void> {
  let least = Infinity;
  let ends = false;
  const watching = s.until('it is over', () => {
    least = Math.min(least, s.set().status?.numberAvailable ?? 0);
    return ends;
  });
  await act();
  ends = true;
  await s.annotate({ 'is-over': 'true' });
  await watching;
  assert.ok(least >= below, `${least} pods were available`);
}

/** What a kube-controller-manager does not know: our annotations; and surge, which an old one has not. */
export const extensions: readonly Story<Stage>[] = [
  story('paused-in-the-midst', async (s) => {
    await s.running(3, { annotations: { 'dkc.dev/progress-deadline': '30s' } });
    await s.condition('Progressing True RolloutComplete');
    await s.image('hollow/unready:2');
    await s.shows({ updated: 1, available: 2 });
    assert.deepEqual(s.images(), ['hollow/unready:2', 'app:1', 'app:1'], 'nodes are taken in the order of their names');
    await s.annotate({ paused: 'true' });
    await s.condition('Progressing Unknown RolloutPaused');
    await s.behave(s.podOn(0), 'ready');
    await s.shows({ updated: 1, available: 3 });
    await s.deletePod(s.podOn(2));
    await s.shows({ updated: 2, available: 2 }); // what is missing is made, of the present template
    await s.behave(s.podOn(2), 'ready');
    await s.shows({ updated: 2, available: 3 });
    await s.annotate({ paused: null });
    await s.shows({ updated: 3, available: 2 });
  }),
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
  story('surges', async (s) => {
    await s.running(3, { spec: surge });
    await never(s, 3, async () => {
      await s.rolls('app:2');
    });
  }),
];
