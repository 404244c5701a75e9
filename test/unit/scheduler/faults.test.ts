import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeenCall } from '../../support/simulated/intercepted.ts';
import type { FaultKind } from '../../support/simulated/faulty-calls.ts';
import { watchFaults, type WatchFault } from '../../support/simulated/faulty-watches.ts';
import { defaultSchedulerConfig } from '../../../scheduler/config/config.ts';
import { stories } from './simulated/stories.ts';
import { faultKinds, sweep, sweepWatches } from './simulated/sweep.ts';

/** Two ways for each call, others for the next one, and every fourth event. All ways for every call, and all events: the endurance suite. */
const inTurn = (_: unknown, n: number): FaultKind[] => [n, n + 5].flatMap((at) => faultKinds[at % faultKinds.length] ?? []);
const oneOf = (n: number): WatchFault[] =>
  n % 4 === 0 ? [watchFaults[(n / 4) % watchFaults.length]].filter((fault) => fault !== undefined) : [];

for (const story of stories) {
  test(`whichever call of the scheduler fails, it comes to the same end: ${story.why}`, async () => {
    const { problems, runs } = await sweep(story, inTurn);
    assert.deepEqual(problems, []);
    assert.ok(runs > 0, 'nothing failed');
  });

  test(`whichever event the scheduler misses or hears late, it comes to the same end: ${story.why}`, async () => {
    const { problems, runs } = await sweepWatches(story, oneOf);
    assert.deepEqual(problems, []);
    assert.ok(runs > 0, 'nothing went wrong');
  });
}

const mirror = { reservation: { ...defaultSchedulerConfig.reservation, mirror: true, mirrorImage: 'pause:1' } };
const ofPods: typeof inTurn = (call, n) => ((call as SeenCall).resource === 'pods' ? faultKinds : []).filter((_, at) => at % 2 === n % 2);

for (const story of stories.filter(({ why }) => why.startsWith('a set ')))
  test(`whichever call about pods that stand for room fails, they go, and it comes to the same end: ${story.why}`, async () => {
    const { problems, runs } = await sweep(story, ofPods, mirror);
    assert.deepEqual(problems, []);
    assert.ok(runs > 0, 'nothing failed');
  });
