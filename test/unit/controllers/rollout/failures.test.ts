import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rolloutMetrics } from '../../../../controllers/rollout/status.ts';
import { allMetrics } from '../../../../kube/metrics/all-metrics.ts';
import { MAX_FAILURES, type NodeConfigRollout } from '../../../../controllers/rollout/types.ts';
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

test('each rollout has a series of its phase and reason, and one for each count of nodes; they go with it', async () => {
  const { registry, meters } = allMetrics();
  const list: NodeConfigRollout[] = [];
  rolloutMetrics(meters, () => list);
  const scrape = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').flatMap((line) => (line.startsWith('rollout_controller_') ? [line.slice(19)] : []));
  assert.deepEqual(await scrape(), []);
  list.push(
    { metadata: { name: 'new' } },
    { metadata: { name: 'a' }, status: { phase: 'RollingBack', stopped: 'Failures', waitsFor: 'ClusterMaxUnavailable' } },
    { metadata: { name: 'b' }, status: { phase: 'RolledBack', stopped: 'Aborted' } },
    { metadata: { name: 'c' }, status: { phase: 'Complete', complete: true, waitsFor: 'Failures' } },
    { metadata: { name: 'd' }, status: { phase: 'Paused', waitsFor: 'Resume' } },
  );
  const phase = (rollout: string, of: string, reason: string): string =>
    `rollout_phase{rollout="${rollout}",phase="${of}",reason="${reason}"} 1`;
  assert.deepEqual(await scrape(), [
    phase('new', 'Pending', ''),
    phase('a', 'RollingBack', 'Failures'),
    phase('b', 'RolledBack', 'Aborted'),
    phase('c', 'Complete', 'Failures'),
    phase('d', 'Paused', 'Resume'),
  ]);
  const nodes = { selected: 3, updated: 2, settled: 1, inFlight: 1, failed: 0, refused: 0 };
  list.splice(0, list.length, { metadata: { name: 'e' }, status: { phase: 'Progressing', nodes } });
  assert.deepEqual(await scrape(), [
    phase('e', 'Progressing', ''),
    ...Object.entries(nodes).map(([state, count]) => `rollout_nodes{rollout="e",state="${state}"} ${count}`),
  ]);
});
