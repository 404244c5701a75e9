import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { dumpQueue } from '../../../../scheduler/queue/contract.ts';
import { createQueue } from '../../../../scheduler/queue/queue.ts';
import { pod } from '../builders.ts';

test('how pods stand, as plain values', () => {
  let now = Date.parse('2026-03-01T00:00:00Z');
  const queue = createQueue({
    now: () => now,
    initialBackoffMs: 1_000,
    maxBackoffMs: 10_000,
    flushMs: 300_000,
    hints: new Map(),
    prioritized: () => false,
  });
  queue.add(podInfoOf(pod('refused').priority(7).build()));
  const queued = queue.pop();
  assert.ok(queued);
  now += 500;
  queue.requeue(
    queued,
    { why: 'refused', by: new Set(['TaintToleration', 'NodeResourcesFit']), short: new Set(['pods', 'cpu']) },
    queued.info,
  );
  for (const name of ['flying', 'held', 'active']) queue.add(podInfoOf(pod(name).build()));
  queue.add(
    podInfoOf(
      pod('gated')
        .spec({ schedulingGates: [{ name: 'x' }] })
        .build(),
    ),
  );
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
