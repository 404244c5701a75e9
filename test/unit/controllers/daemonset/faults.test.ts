import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultKinds, type FaultKind } from '../../../support/simulated/faulty-calls.ts';
import { watchFaults, type WatchFault } from '../../../support/simulated/faulty-watches.ts';
import { stories } from './simulated/stories.ts';
import { sweep, sweepWatches } from './simulated/sweep.ts';

const classes = Map.groupBy(faultKinds, (kind) => kind.class);

/** Every call fails in a way of each class; with the next call it is the class's next way. All ways for every call: the endurance suite. */
const inTurn = (_: unknown, n: number): FaultKind[] => [...classes.values()].flatMap((kinds) => kinds[n % kinds.length] ?? []);
const oneOf = (n: number): WatchFault[] => [watchFaults[n % watchFaults.length]].filter((fault) => fault !== undefined);

for (const story of stories)
  test(`whichever call fails, it comes to the same end: ${story.why}`, async () => {
    const { problems, runs } = await sweep(story, inTurn);
    assert.deepEqual(problems, []);
    assert.ok(runs > 0, 'nothing failed');
  });

const told = new Set([
  'an update, two at a time',
  'orphans are adopted, and replaced',
  'a set goes in the midst of an update, and another takes its name',
]);
for (const story of stories.filter(({ why }) => told.has(why)))
  test(`whichever event is missed or late, it comes to the same end: ${story.why}`, async () => {
    const { problems, runs } = await sweepWatches(story, oneOf);
    assert.deepEqual(problems, []);
    assert.ok(runs > 0, 'nothing went wrong');
  });
