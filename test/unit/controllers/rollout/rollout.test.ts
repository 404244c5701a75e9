import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentHash, revisionName } from '../../../../controllers/rollout/revision.ts';
import { configMaps, type KubeObject, pods } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { approve, cordonedIn, fleetOf, nodesOf, patchNode, FleetWorld } from '../../../support/fleet/fleet-world.ts';

test('a good configuration goes through the steps, never with more nodes in flight than maxUnavailable', async () => {
  await using world = await fleetOf(10);
  await world.roll('web', { maxUnavailable: 3 });
  const { status } = await world.phase('web', 'Complete');
  assert.deepEqual(status?.nodes, { selected: 10, updated: 10, settled: 10, inFlight: 0, failed: 0, refused: 0 });
  assert.equal(world.agents.mostInFlight, 3);
  assert.equal(new Set(world.agents.assigned).size, 10);

  // A late joiner gets it too; the controller may have been restarted in between.
  await world.restartController();
  await world.addNode('late');
  await world.until('web', 'the late node has it', ({ status: now }) => now?.nodes?.settled === 11);
  assert.equal((await world.rollout('web')).status?.phase, 'Complete');
});

test('a bad one stops at the first canary, and the node is taken back; tried again, it does so again; undone, all is well', async () => {
  await using world = await fleetOf(6);
  await world.roll('web');
  const good = (await world.phase('web', 'Complete')).status?.revision ?? '';
  world.agents.bad = (text) => (text.includes('13') ? 'condemns' : undefined);
  await world.payload({ maxPods: 13 });
  const { status } = await world.phase('web', 'RolledBack');
  assert.deepEqual([status?.previousRevision, status?.nodes?.failed], [good, 1]);
  const events = await world.events('web');
  for (const reason of ['RevisionCreated', 'StepStarted', 'Complete', 'NodeFailed', 'FailureBudget', 'RolledBack'])
    assert.ok(
      events.some((event) => event.startsWith(`${reason}: `)),
      `${reason} in ${events.join('\n')}`,
    );

  await world.edit('web', { attempt: 2 });
  await world.until('web', 'agents may try it again', ({ status: now }) => now?.attempt === 2);
  const copy = await world.client.get(configMaps, { name: status?.revision ?? '', namespace: 'dkc-system' });
  assert.match(copy.metadata.annotations?.['dkc.dev/retry'] ?? '', /\/2$/);
  await world.until('web', 'a second attempt', ({ status: now }) => now?.attempt === 2 && now.phase === 'RolledBack');
  await world.edit('web', { configMap: { name: good } });
  const undone = await world.phase('web', 'Complete');
  assert.deepEqual([undone.status?.revision, undone.status?.nodes?.settled], [good, 6]);
});

test('a ConfigMap that has the name of the copy and is not its own is named and left, and waited for', async () => {
  await using world = await fleetOf(1);
  const original = { name: 'web', namespace: 'dkc-system' };
  const name = revisionName('web', contentHash(await world.client.get(configMaps, original), 'kubelet'));
  const foreign = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'dkc-system' }, data: { kubelet: '{}' } };
  await world.client.create(configMaps, foreign, { namespace: 'dkc-system' });
  await world.roll('web');
  const { status } = await world.until('web', 'it says so', (now) => now.status?.waitsFor === 'Revision');
  assert.match(
    status?.message ?? '',
    new RegExp(`ConfigMap dkc-system/${name} exists and was not created by this rollout, .* delete configmap ${name}$`),
  );
  assert.ok((await world.events('web')).some((event) => event.startsWith('RevisionNameTaken: ')));
  assert.deepEqual((await world.client.get<KubeObject & { data?: object }>(configMaps, { ...original, name })).data, foreign.data);
  await world.client.delete(configMaps, { ...original, name });
  await world.phase('web', 'Complete');
});

test('an unsigned configuration is not rolled out where spec says that it must be signed', async () => {
  await using world = await fleetOf(1);
  await world.roll('web', { signature: { required: true } });
  const { status } = await world.until('web', 'it waits', (now) => now.status?.waitsFor === 'ConfigMap');
  assert.match(status?.message ?? '', /^ConfigMap dkc-system\/web is not signed/);
  await world.client.patch(configMaps, { name: 'web', namespace: 'dkc-system' }, { data: { 'kubelet.sig': 'SSHSIG' } }, { type: 'merge' });
  await world.phase('web', 'Complete');
});

test('a configuration that some kubelets would reject touches no node, unless these are left out', async () => {
  await using world = await FleetWorld.start();
  await world.addNodes(3);
  await world.addNode('old', { kubeletVersion: 'v1.34.2' });
  // 1.36 refuses a kubelet without NodeDeclaredFeatures alone; 1.34 does not know the gate at all.
  await world.payload({ featureGates: { PLEGOnDemandRelist: true } });
  await world.roll('web');
  const { status } = await world.until('web', 'preflight', (now) => now.status?.waitsFor === 'Preflight');
  assert.equal(status?.nodes?.refused, 1);
  assert.match(status?.message ?? '', /1 node would reject the configuration, so no node is touched: old; kubelet v1\.34\.2: .*PLEGOnDemandRelist/); // prettier-ignore
  assert.deepEqual(world.agents.assigned, []);
  await world.edit('web', { skipInvalidNodes: true });
  const skipped = await world.phase('web', 'Complete');
  assert.deepEqual([skipped.status?.nodes?.settled, skipped.status?.nodes?.selected, skipped.status?.nodes?.refused], [3, 4, 1]);
});

test('holds, approvals, pause, a second rollout on the same nodes, and an abort', async () => {
  await using world = await FleetWorld.start();
  await world.addNodes(6, { labels: { pool: 'web' } });
  await world.addNode('other');
  await world.payload({ maxPods: 120 });
  await world.roll('web', { steps: [{ nodes: 1, hold: '10m' }, { nodes: 3, approve: true }, { nodes: '100%' }], nodeSelector: { matchLabels: { pool: 'web' } }, maxUnavailable: 2 }); // prettier-ignore
  const held = await world.until('web', 'a hold', ({ status }) => status?.waitsFor === 'Hold');
  assert.equal(held.status?.nodes?.updated, 1);
  await world.clock.advance(9 * 60_000);
  assert.equal((await world.rollout('web')).status?.nodes?.updated, 1);

  // Younger, and empty: it selects every node, and gets the one that the older does not have.
  await world.roll('all');
  await world.phase('all', 'Complete');
  const { status: all } = await world.rollout('all');
  const conflict = all?.conditions?.find(({ type }) => type === 'Conflict');
  assert.deepEqual([all?.nodes?.selected, conflict?.status], [1, 'True']);
  assert.match(conflict?.message ?? '', /older rollouts \(web\) also select/);
  await world.roll('same', { nodeSelector: { matchLabels: { pool: 'web' } } });
  const none = await world.until('same', 'it has no node', ({ status }) => status?.waitsFor === 'Nodes');
  assert.match(none.status?.message ?? '', /^older rollouts \(web\) also select 6 nodes, which are left to them; no other node is selected$/); // prettier-ignore
  const waits = await world.until('web', 'approval', ({ status }) => status?.waitsFor === 'Approval');
  assert.equal(waits.status?.nodes?.settled, 3);
  await world.edit('web', { paused: true });
  const approvals = await approve(world, 2);
  await world.phase('web', 'Paused');
  await world.clock.advance(3_600_000);
  assert.equal((await world.rollout('web')).status?.nodes?.updated, 3);
  await world.edit('web', { paused: false, abortedRevision: waits.status?.revision });
  const back = await world.phase('web', 'RolledBack');
  assert.deepEqual([back.status?.nodes?.updated, back.status?.stopped, back.status?.approvals], [0, 'Aborted', approvals]);
  // The schema knows nothing of days that do not exist.
  await world.edit('web', { windows: [{ schedule: '0 0 30 2 *', duration: '1h' }] });
  await world.until('all', 'it has the nodes of one that cannot be used', ({ status }) => status?.nodes?.selected === 7, 60_000);
});

test('a field that needs it drains each node first, gives it back after, and leaves the cordon of somebody else', async () => {
  await using world = await fleetOf(3);
  // The node that somebody cordoned is one of the two.
  await world.roll('web', { maxUnavailable: 2 });
  await world.phase('web', 'Complete');
  await patchNode(world, 'node-1', { spec: { unschedulable: true } });
  for (const node of ['node-0', 'node-1', 'node-2']) await world.addPod(`app-${node}`, node);
  await world.addPod('stuck', 'node-2', { finalizers: ['example.com/hold'] });
  const most = world.watchCordons();
  await world.payload({ maxPods: 90 });
  await world.until('web', 'the third waits for its pod', ({ status }) => status?.nodes?.settled === 2 && status.nodes.inFlight === 1);
  await world.clock.advance(60_000);
  assert.match((await world.rollout('web')).status?.message ?? '', /stuck is terminating/);
  await world.restartController();
  await world.client.patch(pods, { name: 'stuck', namespace: 'default' }, { metadata: { finalizers: null } }, { type: 'merge' });
  await world.until('web', 'the trial of the third', ({ status: now }) => now?.message?.endsWith(' its trial is running') === true);
  const third = (await nodesOf(world)).find(({ metadata }) => metadata.name === 'node-2')?.status?.conditions?.map(({ type }) => type);
  assert.deepEqual(third?.toSorted(), ['Drained', 'MaintenanceInProgress', 'Ready']);
  const { status } = await world.until('web', 'the new one is complete', (now) => now.status?.phase === 'Complete' && now.status.nodes?.settled === 3); // prettier-ignore
  assert.equal(status?.nodes?.failed, 0);
  await world.clock.advance(60_000);
  assert.deepEqual(await cordonedIn(world), ['node-1']);
  for (const { metadata, status: of } of await nodesOf(world)) {
    assert.deepEqual(Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith('dkc.dev/')), []); // prettier-ignore
    assert.deepEqual(of?.conditions?.map(({ type }) => type), ['Ready']); // prettier-ignore
  }
  assert.deepEqual([...most.seen].toSorted(), ['node-0', 'node-2']);
  assert.equal(most.atOnce, 1);
});

test('a drain that does not end in time is named while others wait for it, and fails the node, which is given back; going back drains nobody twice', async () => {
  await using world = await fleetOf(3);
  for (const at of [0, 1, 2]) await world.addPod(`stuck-${at}`, `node-${at}`, { finalizers: ['example.com/hold'] });
  await world.roll('web', { maxUnavailable: 1, drain: 'Always', drainTimeout: '2m', steps: [{ nodes: '100%' }] });
  const held = /the limit of spec.maxUnavailable; node-\d: being drained: default\/stuck-\d is terminating, \d+ s longer/;
  await world.until('web', 'it says what it waits for', ({ status: now }) => held.test(now?.message ?? ''), 110_000);
  const { status } = await world.phase('web', 'RolledBack');
  assert.match(status?.failures?.[0]?.error ?? '', /^drain: Timeout: .*stuck-\d is terminating/);
  await world.clock.advance(60_000);
  assert.deepEqual(await cordonedIn(world), []);
  // What failed is drained again once an edit comes back to it.
  for (const name of ['stuck-0', 'stuck-1', 'stuck-2'])
    await world.client.patch(pods, { name, namespace: 'default' }, { metadata: { finalizers: null } }, { type: 'merge' });
  for (const drain of ['Never', 'Always']) {
    await world.edit('web', { drain });
    const { revision } = (await world.rollout('web')).status ?? {};
    await world.payload({ maxPods: drain === 'Never' ? 90 : 120 });
    await world.until('web', 'it is complete', ({ status: now }) => now?.phase === 'Complete' && now.revision !== revision);
  }
});

test('nodes are touched inside a window and while the gates hold; a gate that fails starts a hold over', async () => {
  await using world = await fleetOf(4);
  const gates = [{ name: 'no-alerts', alerts: { url: 'http://prometheus:9090' } }];
  const windows = [{ schedule: '0 2 * * *', duration: '2h' }];
  await world.roll('web', { windows, gates, steps: [{ nodes: 1, hold: '20m' }, { nodes: '100%' }] });
  const shut = await world.until('web', 'the window is closed', ({ status }) => status?.waitsFor === 'Window');
  assert.deepEqual([shut.status?.phase, shut.status?.nextWindow], ['Pending', '2026-03-01T02:00:00Z']);
  const fires = { metric: { alertname: 'KubeletDown', alertstate: 'firing' }, value: [1, '1'] };
  const answer =
    (...result: object[]) =>
    () => ({ status: 200, text: JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }) });
  world.prometheus = answer(fires);
  const gated = await world.until('web', 'the gate', ({ status }) => status?.waitsFor === 'Gates', 3 * 3_600_000);
  assert.match(gated.status?.message ?? '', /no-alerts: .*KubeletDown/);
  assert.equal(gated.status?.nextWindow, undefined);
  assert.deepEqual(world.agents.assigned, []);
  world.prometheus = answer();
  await world.until('web', 'the hold', ({ status }) => status?.waitsFor === 'Hold');
  await world.clock.advance(15 * 60_000);
  world.prometheus = answer(fires);
  await world.clock.advance(60_000);
  world.prometheus = answer();
  await world.clock.advance(15 * 60_000);
  assert.equal((await world.rollout('web')).status?.nodes?.updated, 1, 'the hold began again');
  const { status } = await world.phase('web', 'Complete');
  assert.equal(status?.nodes?.settled, 4);
});

test('a node whose conditions may not be written is drained, and loses its cordon, all the same', async () => {
  await using world = await fleetOf(2);
  const no = new ApiError({ method: 'PATCH', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message: 'no' });
  const refuse = (): void => {
    world.between = (call, pass) => (call.resource === 'nodes/status' ? Promise.reject(no) : pass());
  };
  refuse();
  await world.addPod('app', 'node-0');
  await world.roll('web', { steps: [{ nodes: '100%' }], drain: 'Always' });
  await world.phase('web', 'Complete');
  world.between = (_, pass) => pass();
  for (const at of [0, 1]) await world.addPod(`stuck-${at}`, `node-${at}`, { finalizers: ['example.com/hold'] });
  await world.payload({ maxPods: 90 });
  await world.clock.advance(30_000);
  assert.match(JSON.stringify(await nodesOf(world)), /DrainInProgress/);
  refuse();
  await world.phase('web', 'RolledBack');
  await world.clock.advance(60_000);
  assert.deepEqual(await cordonedIn(world), []);
});
