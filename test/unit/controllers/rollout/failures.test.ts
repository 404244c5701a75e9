import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_FAILURES } from '../../../../controllers/rollout/types.ts';
import { fleetOf } from './fleet-of.ts';

test('more nodes that cannot be drained than the status names stop the rollout, whatever its budget: none is drained again and again', async () => {
  await using world = await fleetOf(MAX_FAILURES + 6);
  // These fail on their own account, and their nodes tell of it.
  for (const name of ['node-0', 'node-1']) world.agents.behave(name, 'rejects');
  for (let at = 2; at < MAX_FAILURES + 4; at++) await world.addPod(`bare-${at}`, `node-${at}`, { isBare: true });
  await world.roll('web', {
    steps: [{ nodes: '100%' }],
    maxUnavailable: '100%',
    failureBudget: MAX_FAILURES + 6,
    drain: 'Always',
    onFailure: 'Pause',
  });
  const { status } = await world.until('web', 'it stops', (now) => now.status?.stopped === 'Failures', 600_000);
  assert.equal(status?.failures?.length, MAX_FAILURES);
  assert.ok(status.failures.every(({ node, error }) => !['node-0', 'node-1'].includes(node) && error.startsWith('drain: Blocked')));
});
