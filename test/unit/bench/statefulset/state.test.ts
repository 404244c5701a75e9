import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDone, podsOf, shapeText } from '../../../../bench/statefulset/state.ts';

const one = { currentRevision: 'a', updateRevision: 'a' };
const all = { ...one, observedGeneration: 2, replicas: 9, readyReplicas: 9, currentReplicas: 9, updatedReplicas: 9 };
const states = [
  { why: 'all pods are ready and of one revision', status: all, generation: 2, done: true },
  { why: 'a pod is missing', status: { ...all, replicas: 8 }, generation: 2, done: false },
  { why: 'a pod is not ready', status: { ...all, readyReplicas: 8 }, generation: 2, done: false },
  { why: 'a pod is of the revision before', status: { ...all, updatedReplicas: 8 }, generation: 2, done: false },
  { why: 'the new revision is not the current one yet', status: { ...all, updateRevision: 'b' }, generation: 2, done: false },
  { why: 'the counts are not those of the current revision yet', status: { ...all, currentReplicas: 0 }, generation: 2, done: false },
  { why: 'the status is of the generation before', status: { ...all, observedGeneration: 1 }, generation: 2, done: false },
  { why: 'the set is of the generation before', status: all, generation: 3, done: false },
  { why: 'there is no status', status: undefined, generation: 2, done: false },
];
for (const { why, status, generation, done } of states)
  test(`a set is ${done ? '' : 'not '}done when ${why}`, () => {
    const set = { metadata: { generation: 2 }, ...(status === undefined ? {} : { status }) };
    assert.equal(isDone(set, 9, generation), done);
  });

test('a shape is called by its numbers', () => {
  const shape = { sets: 1, replicas: 1_000, podManagementPolicy: 'Parallel' } as const;
  assert.equal(podsOf({ ...shape, sets: 3 }), 3_000);
  assert.equal(shapeText(shape), '1 x 1,000 Parallel');
});
