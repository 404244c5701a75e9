import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpAnswer } from '../../../../controllers/rollout/gates/contract.ts';
import { rollouts } from '../../../../controllers/rollout/types.ts';
import { nodeConfigs } from '../../../../agent/status/node-config.ts';
import { nodes } from '../../../../kube/api/object.ts';
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

test('a node that failed after the rollout was complete, and has gone or was made again since, keeps no later one waiting', async () => {
  await using world = await fleetOf(3);
  await world.roll('web', { steps: [{ nodes: '100%' }], maxUnavailable: '100%' });
  await world.phase('web', 'Complete');
  const failsLate = async (name: string): Promise<void> => {
    await world.addNode(name, {}, 'hangs');
    await world.until('web', 'the late one has failed', ({ status }) => status?.waitsFor === 'Failures');
    await world.clock.advance(5_000);
    for (const resource of [nodeConfigs, nodes]) await world.client.delete(resource, { name }).catch(() => {});
  };
  await failsLate('late');
  await world.addNode('later');
  await world.until('web', 'the later one has it', ({ status }) => status?.nodes?.settled === 4 && status.nodes.failed === 0, 300_000);
  await failsLate('again');
  await world.addNode('again', {}, 'good');
  const { status } = await world.until('web', 'it was made again, and has it', (now) => now.status?.nodes?.settled === 5, 300_000);
  assert.deepEqual([status?.phase, status?.failures], ['Complete', undefined]);
});
