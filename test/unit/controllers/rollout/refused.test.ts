import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../kube/client/errors.ts';
import { fleetOf, patchNode } from './fleet-of.ts';

test('a node that nobody may write puts off no hold: neither of its own rollout nor of others', async () => {
  await using world = await fleetOf(3, { labels: { pool: 'web' } });
  await world.addNode('strange', { labels: { pool: 'other' } });
  const about = { method: 'PATCH', path: '/api/v1/nodes/strange', host: 'test' };
  const no = new ApiError(about, { code: 403, reason: 'Forbidden', message: 'a webhook denied the request' });
  world.between = (call, pass) => (call.verb === 'patch' && call.key === 'strange' ? Promise.reject(no) : pass());
  // Left by a rollout that is gone: whoever looks next has to take it away, and cannot.
  await patchNode(world, 'strange', { metadata: { annotations: { 'dkc.dev/drained-by': 'gone/uid-of-gone' } } });
  await world.roll('web', {
    nodeSelector: { matchLabels: { pool: 'web' } },
    steps: [{ nodes: 1, hold: '20m' }, { nodes: '100%' }],
    maxUnavailable: '100%',
  });
  const held = await world.until('web', 'its hold', ({ status }) => status?.waitsFor === 'Hold');
  const end = Date.parse(held.status?.stepSettledAt ?? '') + 20 * 60_000;
  await world.until('web', 'the second step', ({ status }) => status?.step === 2);
  assert.ok(world.clock.now() - end < 10_000, `it begins ${(world.clock.now() - end) / 1_000} s late`);
});
