import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fleet } from '../../../../controllers/rollout/fleet.ts';
import { inOrder } from '../../../../controllers/rollout/grouping.ts';
import type { RolloutNode } from '../../../../controllers/rollout/node.ts';
import type { Course, Placer } from '../../../../controllers/rollout/placing.ts';

test('nodes of a large fleet are placed in several looks, those that change meanwhile too; what a plan names is placed in each', () => {
  const unassigned = { wanted: null, assigned: null, active: null, lastKnownGood: null };
  const nodeOf = (at: number): RolloutNode => ({ ...unassigned, node: `node-${at}` }) as RolloutNode;
  let placed = 0;
  const place: Placer = (node) => {
    placed += 1;
    return { node, standing: { at: 'waiting' }, groups: ['left'], failsAt: Infinity, isUnavailable: false };
  };
  const course = { key: 'a', now: 0, drains: new Map(), pending: new Map(), rules: { uid: 'b' } } as unknown as Course;
  const fleet = new Fleet(Array.from({ length: 2_500 }, (_, at) => nodeOf(at)));
  const look = (at = course) => {
    placed = 0;
    return fleet.groups(place, at)?.of('left');
  };
  assert.deepEqual([look(), placed], [undefined, 1_000]);
  fleet.set(nodeOf(7));
  fleet.delete('node-8');
  // A drain that goes on does not wait for the others, and does not keep them waiting.
  const drains = new Map(Array.from({ length: 1_200 }, (_, at) => [`node-${at}`, { at: 'drained' as const, revision: 'c', attempt: 1 }]));
  assert.equal(look({ ...course, drains }), undefined);
  const all = look({ ...course, drains });
  assert.deepEqual([all?.length, fleet.size], [2_499, 2_499]);
  assert.equal(all?.find(({ node }) => node.node === 'node-7')?.node, fleet.get('node-7'));
  const left = Array.from({ length: 2_500 }, (_, at) => fleet.get(`node-${at}`) ?? []).flat();
  assert.deepEqual(all?.map(({ node }) => node), inOrder(left, 'b')); // prettier-ignore
});
