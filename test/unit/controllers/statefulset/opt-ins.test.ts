import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optInsOf, type OptIns } from '../../../../controllers/statefulset/opt-ins.ts';

const nothing: OptIns = {
  paused: false,
  progressDeadlineMs: undefined,
  forcedRollback: false,
  maxUnavailable: undefined,
  reserved: [],
  expandClaims: false,
  problems: [],
};

/** Annotations are written without `dkc.dev/`. `problem` is how what is read wrongly begins, when anything is. */
const cases: { why: string; annotations: Record<string, string>; is?: Partial<OptIns>; problem?: string }[] = [
  { why: 'nothing', annotations: {} },
  { why: 'a pause', annotations: { paused: 'true' }, is: { paused: true } },
  { why: 'no pause', annotations: { paused: 'false' } },
  { why: 'a pause in other letters', annotations: { paused: 'yes' }, problem: 'paused is "yes"; write "true"' },
  { why: 'a deadline', annotations: { 'progress-deadline': '10m' }, is: { progressDeadlineMs: 600_000 } },
  { why: 'a deadline without unit', annotations: { 'progress-deadline': '10' }, problem: 'progress-deadline is "10"; write a duration' },
  { why: 'a forced rollback', annotations: { 'forced-rollback': 'true' }, is: { forcedRollback: true } },
  { why: 'no forced rollback', annotations: { 'forced-rollback': 'false' } },
  { why: 'a rollback in other letters', annotations: { 'forced-rollback': '1' }, problem: 'forced-rollback is "1"; write "true"' },
  { why: 'growing claims', annotations: { 'expand-claims': 'true' }, is: { expandClaims: true } },
  { why: 'claims that grow in other letters', annotations: { 'expand-claims': 'TRUE' }, problem: 'expand-claims is "TRUE"; write "true"' },
  { why: 'a count that may be down', annotations: { 'max-unavailable': '2' }, is: { maxUnavailable: 2 } },
  { why: 'a share that may be down', annotations: { 'max-unavailable': '30%' }, is: { maxUnavailable: '30%' } },
  { why: 'all that may be down', annotations: { 'max-unavailable': '100%' }, is: { maxUnavailable: '100%' } },
  {
    why: 'none that may be down',
    annotations: { 'max-unavailable': '0' },
    problem: 'max-unavailable is "0"; write a number of pods above 0',
  },
  { why: 'a share of none', annotations: { 'max-unavailable': '00%' }, problem: 'max-unavailable is "00%"; write a number' },
  { why: 'a share beyond all', annotations: { 'max-unavailable': '101%' }, problem: 'max-unavailable is "101%"; write a number' },
  { why: 'fewer than none', annotations: { 'max-unavailable': '-1' }, problem: 'max-unavailable is "-1"; write a number' },
  { why: 'reserved ordinals', annotations: { 'reserve-ordinals': '1,3-5' }, is: { reserved: [1, 3, 4, 5] } },
  {
    why: 'one that is no list',
    annotations: { 'reserve-ordinals': 'one' },
    problem: 'reserve-ordinals is "one"; write up to 10,000 ordinals',
  },
];
for (const { why, annotations, is = {}, problem } of cases)
  test(`opt-ins: ${why}`, () => {
    const read = optInsOf(Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`dkc.dev/${name}`, value])));
    assert.deepEqual({ ...read, problems: [] }, { ...nothing, ...is });
    assert.equal(read.problems.length, problem === undefined ? 0 : 1);
    if (problem !== undefined) assert.ok(read.problems[0]?.startsWith(`dkc.dev/${problem}`), read.problems[0]);
  });

test('opt-ins: annotations of others, or none at all', () => {
  assert.deepEqual(optInsOf({ 'example.com/paused': 'true', paused: 'true' }), nothing);
  assert.deepEqual(optInsOf(), nothing);
});

test('opt-ins: each that cannot be read is named', () =>
  assert.equal(optInsOf({ 'dkc.dev/paused': '', 'dkc.dev/max-unavailable': '', 'dkc.dev/expand-claims': 'true' }).problems.length, 2));
