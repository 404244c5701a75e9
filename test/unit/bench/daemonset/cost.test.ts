import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTurn, isDone, perEventMs, stretch } from '../../../../bench/daemonset/cost.ts';

const usage = (cpuMs: number) => ({ cpuMs, rssMb: 0, peakMb: 0 });
const costs = [
  { why: 'all of it for a process that is else asleep', busy: { wallMs: 10_000, cpuMs: 500 }, idle: { wallMs: 5_000, cpuMs: 0 }, is: 0.5 },
  { why: 'without what idling costs in that time', busy: { wallMs: 10_000, cpuMs: 500 }, idle: { wallMs: 5_000, cpuMs: 100 }, is: 0.3 },
  { why: 'not below nothing', busy: { wallMs: 10_000, cpuMs: 100 }, idle: { wallMs: 5_000, cpuMs: 100 }, is: 0 },
];
for (const { why, busy, idle, is } of costs) test(`an event costs ${why}`, () => assert.equal(perEventMs(1_000, busy, idle), is));

test('there is no cost of no event', () => {
  assert.throws(() => perEventMs(0, { wallMs: 1, cpuMs: 1 }, { wallMs: 1, cpuMs: 0 }), RangeError);
});

test('a stretch is what is between two readings', () => {
  assert.deepEqual(stretch({ usage: usage(10), atMs: 100 }, { usage: usage(60), atMs: 350 }), { wallMs: 250, cpuMs: 50 });
});

test('each is first in every other round', () => {
  assert.deepEqual([0, 1, 2].map((round) => inTurn(round, ['a', 'b'])[0]), ['a', 'b', 'a']); // prettier-ignore
});

const all = {
  observedGeneration: 2,
  desiredNumberScheduled: 9,
  currentNumberScheduled: 9,
  updatedNumberScheduled: 9,
  numberMisscheduled: 0,
};
const available = { ...all, numberReady: 9, numberAvailable: 9 };
const states = [
  { why: 'all nodes have a pod that is available', status: available, ready: true, done: true },
  { why: 'a pod is not ready', status: { ...available, numberReady: 8 }, ready: true, done: false },
  { why: 'a pod is not available', status: { ...available, numberAvailable: 8 }, ready: true, done: false },
  { why: 'none has to be ready', status: all, ready: false, done: true },
  { why: 'a pod is of the revision before', status: { ...all, updatedNumberScheduled: 8 }, ready: false, done: false },
  { why: 'a node is not counted yet', status: { ...all, desiredNumberScheduled: 8 }, ready: false, done: false },
  { why: 'a pod is where it should not be', status: { ...all, numberMisscheduled: 1 }, ready: false, done: false },
  { why: 'the status is of the generation before', status: { ...all, observedGeneration: 1 }, ready: false, done: false },
  { why: 'there is no status', status: undefined, ready: false, done: false },
];
for (const { why, status, ready, done } of states)
  test(`a set is ${done ? '' : 'not '}done when ${why}`, () => {
    assert.equal(isDone({ metadata: { generation: 2 }, ...(status === undefined ? {} : { status }) }, 9, ready), done);
  });
