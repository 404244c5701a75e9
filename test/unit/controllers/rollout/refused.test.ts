import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodes } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { fleetOf, patchNode } from './fleet-of.ts';

test('a node that nobody may write puts off no hold, neither of its own rollout nor of others, and is tried once a minute', async () => {
  await using world = await fleetOf(3, { labels: { pool: 'web' } });
  await world.addNode('strange', { labels: { pool: 'other' } });
  const about = { method: 'PATCH', path: '/api/v1/nodes/strange', host: 'test' };
  const no = new ApiError(about, { code: 403, reason: 'Forbidden', message: 'a webhook denied the request' });
  let tries = 0;
  world.between = (call, pass) => {
    if (call.verb !== 'patch' || call.key !== 'strange') return pass();
    tries += 1;
    console.log(world.clock.monotonic());
    return Promise.reject(no);
  };
  // Left by a rollout that is gone: whoever looks next has to take it away, and cannot.
  await patchNode(world, 'strange', { metadata: { annotations: { 'dkc.dev/drained-by': 'gone/uid-of-gone' } } });
  await world.roll('web', {
    nodeSelector: { matchLabels: { pool: 'web' } },
    steps: [{ nodes: 1, hold: '20m' }, { nodes: '100%' }],
    maxUnavailable: '100%',
  });
  const held = await world.until('web', 'its hold', ({ status }) => status?.waitsFor === 'Hold');
  const end = Date.parse(held.status?.stepSettledAt ?? '') + 20 * 60_000;
  // Each change of a node is another look.
  const before = tries;
  for (let looks = 0; looks < 61; looks++) {
    await patchNode(world, 'node-0', { metadata: { annotations: { look: String(looks) } } });
    await world.clock.advance(1_000);
  }
  assert.ok(tries - before > 0 && tries - before <= 2, `the node is tried ${tries - before} times in a minute`);
  await world.until('web', 'the second step', ({ status }) => status?.step === 2);
  assert.ok(world.clock.now() - end < 10_000, `it begins ${(world.clock.now() - end) / 1_000} s late`);
  world.between = (_, pass) => pass();
  await world.clock.advance(61_000);
  assert.equal((await world.client.get(nodes, { name: 'strange' })).metadata.annotations?.['dkc.dev/drained-by'], undefined);
});
