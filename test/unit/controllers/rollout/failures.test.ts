import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rolloutMetrics } from '../../../../controllers/rollout/status.ts';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { MAX_FAILURES, type NodeConfigRollout } from '../../../../controllers/rollout/types.ts';
import { nodes, pods } from '../../../../kube/api/object.ts';
import { nodeConfigs } from '../../../../agent/status/node-config.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { allMetrics } from '../../../../kube/metrics/all-metrics.ts';
import { approve, fleetOf, patchNode } from '../../../support/fleet/fleet-world.ts';

test('more nodes that cannot be drained than the status names stop the rollout, whatever its budget: none is drained again and again', async () => {
  await using world = await fleetOf(MAX_FAILURES + 6);
  // These fail on their own account, and their nodes tell of it.
  for (const name of ['node-0', 'node-1']) world.agents.behave(name, 'rejects');
  for (let at = 2; at < MAX_FAILURES + 4; at++) await world.addPod(`bare-${at}`, `node-${at}`, { isBare: true });
  await world.roll('web', { steps: [{ nodes: '100%' }], maxUnavailable: '100%', failureBudget: MAX_FAILURES + 6, drain: 'Always', onFailure: 'Pause' }); // prettier-ignore
  const { status } = await world.until('web', 'it stops', (now) => now.status?.stopped === 'Failures', 600_000);
  assert.equal(status?.failures?.length, MAX_FAILURES);
  assert.ok(status.failures.every(({ node, error }) => !['node-0', 'node-1'].includes(node) && error.startsWith('drain: Blocked')));
});

test('a late joiner whose drain failed is tried again by another attempt: no other node goes through steps, or back', async () => {
  await using world = await fleetOf(2);
  await world.roll('web', { steps: [{ nodes: 1, approve: true }, { nodes: '100%' }], drain: 'Always' });
  await world.until('web', 'approval', ({ status }) => status?.waitsFor === 'Approval');
  await approve(world);
  await world.phase('web', 'Complete');
  await world.addNode('late');
  // The controller's clock is behind the one by which Nodes are created.
  world.clock.jump(-3 * 3_600_000);
  await world.addPod('bare', 'late', { isBare: true });
  const failed = await world.until('web', 'it has failed', ({ status }) => status?.waitsFor === 'Failures');
  assert.match(failed.status?.message ?? '', /late; nodes that join later are not touched; to try again: dkc rollout resume web --retry$/);
  await patchNode(world, 'late', { metadata: { annotations: { beat: '1' } } });
  await world.clock.advance(5_000);
  assert.deepEqual((await world.rollout('web')).status, failed.status, 'a Node that changes has no failure begin again');
  const { assigned } = world.agents;
  const before = assigned.length;
  // In vain at first: it has failed again, and all others keep the revision.
  await world.edit('web', { attempt: 2 });
  const again = await world.until('web', 'failed again', ({ status }) => status?.attempt === 2 && status.waitsFor === 'Failures');
  assert.deepEqual([again.status?.complete, again.status?.stopped, again.status?.nodes?.settled], [true, undefined, 2]);
  await world.edit('web', { attempt: 3, drainPolicy: { unmanagedPods: 'Evict' } });
  const { status } = await world.until('web', 'it is settled', ({ status: now }) => now?.attempt === 3 && now.nodes?.settled === 3);
  assert.deepEqual([status?.phase, status?.failures, assigned.slice(before)], ['Complete', undefined, ['late']]);
});

test('a Node that is made again under its name is drained again, whatever became of the drain of the one before', async () => {
  await using world = await fleetOf(1);
  await world.roll('web', { drain: 'Always' });
  await world.phase('web', 'Complete');
  await world.addNode('late');
  await world.addPod('bare', 'late', { isBare: true });
  await world.until('web', 'it has failed', ({ status }) => status?.waitsFor === 'Failures');
  await world.client.delete(nodes, { name: 'late' });
  await world.client.delete(nodeConfigs, { name: 'late' });
  await world.client.delete(pods, { name: 'bare', namespace: 'default' });
  await world.until('web', 'it is gone', ({ status: now }) => now?.nodes?.selected === 1);
  await world.addNode('late');
  const { status } = await world.until('web', 'it is settled', ({ status: now }) => now?.nodes?.settled === 2);
  assert.equal(status?.failures, undefined);
});

for (const { how, clock } of [
  { how: 'hangs', clock: 0 },
  // Where the clock was set back by a day, and another process began since.
  { how: 'condemns', clock: -86_400_000 },
] as const)
  test(`nodes that keep a revision which failed (${how}, clock set by ${clock} ms) are judged again by one attempt, in vain and for good`, async () => {
    await using world = await fleetOf(4);
    world.agents.bad = () => how;
    await world.roll('web', { onFailure: 'Pause', nodeDeadline: '5m', maxUnavailable: 2, failureBudget: 2, steps: [{ nodes: '100%' }] });
    const hasStopped = ({ status }: NodeConfigRollout): boolean => status?.stopped === 'Failures';
    await world.until('web', 'it stops', hasStopped);
    await world.clock.advance(600_000);
    await world.edit('web', { attempt: 2 });
    await world.until('web', 'nodes try it again', ({ status }) => status?.attempt === 2 && status.stopped === undefined);
    const began = world.clock.now();
    world.clock.jump(clock);
    const again = await world.until('web', 'it stops again', hasStopped);
    // Not by what they reported of the attempt before: that takes a node 20 s at least, and is not judged before.
    const took = world.clock.now() - began - clock;
    assert.ok(took > 15_000 && took < 330_000, `${took} ms`);
    assert.deepEqual([again.status?.nodes?.updated, again.status?.failures?.length], [2, 2]);
    assert.match(again.status?.failures?.[0]?.error ?? '', how === 'hangs' ? /not settled by the deadline/ : /^failed trial/);
    world.agents.bad = undefined;
    await world.edit('web', { attempt: 3 });
    await world.until('web', 'the third attempt', ({ status }) => status?.attempt === 3);
    const { status } = await world.until('web', 'its end', (now) => hasStopped(now) || now.status?.phase === 'Complete');
    assert.deepEqual([status?.phase, status?.nodes?.settled, status?.failures], ['Complete', 4, undefined]);
  });

test('a node that nobody may write is tried once a minute, and loses what a deleted rollout left on it once it can be written', async () => {
  await using world = await fleetOf(2);
  const no = new ApiError({ method: 'PATCH', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message: 'denied' });
  let tries = 0;
  const refused = (): Promise<never> => {
    tries += 1;
    return Promise.reject(no);
  };
  world.between = (call, pass) => (call.verb === 'patch' && call.key === 'node-1' ? refused() : pass());
  await patchNode(world, 'node-1', { metadata: { annotations: { 'dkc.dev/drained-by': 'gone/uid-of-gone' } } });
  await world.roll('web', { paused: true });
  await world.phase('web', 'Paused');
  const before = tries;
  // Each change of a node is another look.
  for (let looks = 0; looks < 61; looks++) {
    await patchNode(world, 'node-0', { metadata: { annotations: { look: String(looks) } } });
    await world.clock.advance(1_000);
  }
  assert.ok(tries > before && tries - before <= 2, `the node is tried ${tries - before} times in a minute`);
  world.between = (_, pass) => pass();
  await world.clock.advance(61_000);
  assert.equal((await world.client.get(nodes, { name: 'node-1' })).metadata.annotations?.['dkc.dev/drained-by'], undefined);
});

for (const { how, code, reason, logged } of [
  { how: 'ends early', code: 409, reason: 'Conflict', logged: /reconcile failed .*"web".*denied/ },
  { how: 'throws', code: 500, reason: 'InternalError', logged: /reconcile failed .*"web".*broken.*; .*denied/ },
])
  test(`a node that cannot be given back is logged, also where the reconcile of a rollout ${how}`, async () => {
    await using world = await fleetOf(1);
    const answer = (says: { code: number; reason: string; message: string }) =>
      Promise.reject(new ApiError({ method: 'PATCH', path: '/', host: 'test' }, says));
    world.between = (call, pass) => {
      if (call.resource === 'nodeconfigrollouts/status') return answer({ code, reason, message: 'broken' });
      return call.verb === 'patch' && call.key === 'left' ? answer({ code: 403, reason: 'Forbidden', message: 'denied' }) : pass();
    };
    const annotations = { 'dkc.dev/drained-by': 'gone/uid-of-gone' };
    await world.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'left', annotations } });
    await world.roll('web');
    await world.clock.advance(1_000);
    assert.match(world.controller.failures().join('\n'), logged);
  });

test('each rollout has a series of its phase and reason, and one for each count of nodes', async () => {
  const { registry, meters } = allMetrics();
  const counts = { selected: 3, updated: 2, settled: 1, inFlight: 1, failed: 0, refused: 0 };
  rolloutMetrics(meters, () => [
    { metadata: { name: 'new' } },
    { metadata: { name: 'a' }, status: { phase: 'RollingBack', stopped: 'Failures', waitsFor: 'ClusterMaxUnavailable' } },
    { metadata: { name: 'c' }, status: { phase: 'Complete', complete: true, waitsFor: 'Failures' } },
    { metadata: { name: 'd' }, status: { phase: 'Progressing', nodes: counts } },
  ]);
  const phases = [['new', 'Pending', ''], ['a', 'RollingBack', 'Failures'], ['c', 'Complete', 'Failures'], ['d', 'Progressing', '']]; // prettier-ignore
  assert.deepEqual(
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('rollout_controller_')),
    [
      ...phases.map(([name, phase, reason]) => `rollout_controller_rollout_phase{rollout="${name}",phase="${phase}",reason="${reason}"} 1`),
      ...Object.entries(counts).map(([state, count]) => `rollout_controller_rollout_nodes{rollout="d",state="${state}"} ${count}`),
    ],
  );
});

test('a rollout decides nothing from a cache whose connection broke, until the server has confirmed it: after a restore of etcd the others may be ahead', async () => {
  await using world = await fleetOf(2);
  const away = ['watch', 'list'].map((verb) => ({ verb, resource: 'nodes', status: 503 }));
  world.api.hooks.setFaults(parseFaults([{ verb: 'watch', resource: 'nodes', fault: 'truncate' }, ...away]));
  await patchNode(world, 'node-0', { metadata: { annotations: { ends: 'the watch' } } });
  await world.roll('web', { steps: [{ nodes: '100%' }] });
  await world.clock.advance(60_000);
  assert.deepEqual([(await world.rollout('web')).status, world.agents.assigned], [undefined, []]);
  world.api.hooks.setFaults([]);
  await world.phase('web', 'Complete');
});
