import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rejector } from '../../../../scheduler/plugins/names.ts';
import { dumpQueue } from '../../../../scheduler/queue/contract.ts';
import { pod } from '../builders.ts';
import { info, pop, queueWith } from './set-up.ts';

test('how pods stand, as plain values', () => {
  const { clock, queue } = queueWith(() => false, { hints: new Map() });
  clock.now = Date.parse('2026-03-01T00:00:00Z');
  queue.add(info(pod('refused').priority(7)));
  const queued = pop(queue);
  clock.now += 500;
  const [by, short] = [new Set<Rejector>(['TaintToleration', 'NodeResourcesFit']), new Set(['pods', 'cpu'])];
  queue.requeue(queued, { why: 'refused', by, short }, queued.info);
  for (const name of ['flying', 'held', 'active']) queue.add(info(pod(name)));
  queue.add(info(pod('gated').spec({ schedulingGates: [{ name: 'x' }] })));
  queue.hold('uid-default-held');
  queue.pop();
  const { pools, inFlight, pods } = dumpQueue(queue, 300_000);
  assert.deepEqual([pools, inFlight], [{ active: 1, backoff: 0, unschedulable: 2, gated: 1 }, 1]);
  assert.deepEqual(pods[0], {
    namespace: 'default',
    name: 'refused',
    uid: 'uid-default-refused',
    priority: 7,
    pool: 'unschedulable',
    held: false,
    attempts: 1,
    refusals: 1,
    errors: 0,
    since: '2026-03-01T00:00:00.000Z',
    queuedAt: '2026-03-01T00:00:00.500Z',
    backoffUntil: '2026-03-01T00:00:01.500Z',
    flushAt: '2026-03-01T00:05:00.500Z',
    rejectedBy: ['NodeResourcesFit', 'TaintToleration'],
    short: ['cpu', 'pods'],
    wakesOn: [
      'a pod that uses the missing resource is deleted or shrinks; a node is added or gets more of it; the pod itself requests less',
      'a node is added or loses a taint, or the pod gets a toleration',
    ],
  });
  assert.deepEqual(
    pods.map(({ name, pool, held, flushAt, wakesOn }) => [name, pool, held, flushAt === null, wakesOn.length]),
    [
      ['refused', 'unschedulable', false, false, 2],
      ['flying', 'in-flight', false, true, 0],
      ['held', 'unschedulable', true, true, 1],
      ['active', 'active', false, true, 0],
      ['gated', 'gated', false, true, 1],
    ],
  );
  assert.equal(dumpQueue(queue, 300_000, undefined, 2).pods.length, 2);
  assert.doesNotThrow(() => structuredClone(dumpQueue(queue, 300_000)));
});
