import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpAnswer } from '../../../../controllers/rollout/gates/contract.ts';
import { rollouts } from '../../../../controllers/rollout/types.ts';
import { fleetOf } from './fleet-of.ts';

const answer = (result: unknown[]): HttpAnswer => ({
  status: 200,
  text: JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }),
});
const gates = [{ name: 'quiet', prometheus: { url: 'http://prometheus:9090', query: 'up == 0' } }];

test('a rollout that was made again while its gates were asked asks its own', async () => {
  await using world = await fleetOf(2);
  const first = Promise.withResolvers<HttpAnswer>();
  let asked = 0;
  world.prometheus = () => ((asked += 1) === 1 ? first.promise : answer([{ metric: {}, value: [0, '1'] }]));
  await world.roll('web', { gates });
  await world.clock.advance(2_000);
  assert.equal(asked, 1);
  await world.client.delete(rollouts, { name: 'web' });
  await world.roll('web', { gates });
  await world.clock.advance(1_000);
  first.resolve(answer([]));
  const { status } = await world.until('web', 'its own gate does not hold', (now) => now.status?.waitsFor === 'Gates' && asked > 1, 60_000);
  assert.equal(status?.nodes?.updated, 0);
  assert.deepEqual(world.agents.assigned, []);
});
