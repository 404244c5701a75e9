import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeConfigs } from '../../../../agent/status/node-config.ts';
import { kubeletConfigs } from '../../../../controllers/rollout/kubelet-configs.ts';
import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import type { FleetWorld } from '../../../support/fleet/fleet-world.ts';
import { fleetOf } from './fleet-of.ts';

/** Three nodes, and a ConfigMap with a second key beside the one that is rolled out. */
async function withOther(fields: object): Promise<FleetWorld> {
  const world = await fleetOf(3);
  const other = JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields });
  await world.client.patch(configMaps, { name: 'web', namespace: 'dkc-system' }, { data: { other } }, { type: 'merge' });
  return world;
}

/** What nodes are assigned: the copy and the key of it. */
async function assigned({ client }: FleetWorld): Promise<string[]> {
  type Assigned = KubeObject & { spec?: { configMap?: { name?: string; kubeletConfigKey?: string } } };
  const { items } = await client.list<Assigned>(nodeConfigs);
  return [...new Set(items.map(({ spec }) => `${spec?.configMap?.name}:${spec?.configMap?.kubeletConfigKey}`))];
}

test('another key of the ConfigMap is another revision, and failures take nodes back to the key that they had', async () => {
  await using world = await withOther({ maxPods: 13 });
  await world.roll('web');
  const good = (await world.phase('web', 'Complete')).status?.revision ?? '';
  world.agents.bad = (text) => (text.includes('13') ? 'condemns' : undefined);
  await world.edit('web', { configMap: { kubeletConfigKey: 'other' } });
  await world.phase('web', 'RolledBack');
  assert.deepEqual(await assigned(world), [`${good}:kubelet`]);
});

test('another key of a copy that spec names goes through the steps as well', async () => {
  await using world = await withOther({ maxPods: 13 });
  await world.roll('web', { maxUnavailable: '100%' });
  const good = (await world.phase('web', 'Complete')).status?.revision ?? '';
  await world.edit('web', { configMap: { name: good } });
  await world.until('web', 'it is seen', ({ metadata, status }) => status?.observedGeneration === metadata.generation);
  world.agents.bad = (text) => (text.includes('13') ? 'condemns' : undefined);
  await world.edit('web', { configMap: { kubeletConfigKey: 'other' } });
  const { status } = await world.phase('web', 'RolledBack');
  assert.equal(status?.nodes?.failed, 1, 'the canary alone');
  assert.notEqual(status.revision, good);
  assert.deepEqual(await assigned(world), [`${good}:kubelet`]);
});

test('nodes are drained for what differs between the key that they use and the one that they get', async () => {
  await using world = await withOther({ maxPods: 13 });
  await world.roll('web', { drain: 'Never' });
  await world.phase('web', 'Complete');
  const cordons = await world.watchCordons();
  await world.edit('web', { drain: 'Auto', configMap: { kubeletConfigKey: 'other' } });
  await world.until('web', 'the other key', ({ metadata, status }) => status?.phase === 'Complete' && status.observedGeneration === metadata.generation); // prettier-ignore
  assert.deepEqual([...cordons.seen].toSorted(), ['node-0', 'node-1', 'node-2']);
});

const drains = [
  { why: 'a field whose change pods notice needs one', version: 'v1.20.2', to: { maxPods: 13 }, fields: ['maxPods'] },
  { why: 'a feature gate needs one where Nodes declare features', version: 'v1.36.3', to: { featureGates: { PodsAPI: true } }, fields: ['featureGates.PodsAPI'] },
  { why: 'a feature gate of a newer kubelet needs one', version: 'v1.38.0', to: { featureGates: { PodsAPI: true } }, fields: ['featureGates.PodsAPI'] },
  { why: 'a feature gate needs none where they do not', version: 'v1.35.6', to: { featureGates: { PodsAPI: true } }, fields: [] },
  { why: 'a field that is dangerous for the kubelet alone needs none', version: 'v1.36.3', to: { tlsMinVersion: 'VersionTLS13' }, fields: [] },
]; // prettier-ignore
for (const { why, version, to, fields } of drains)
  test(`drain Auto: ${why}`, () => {
    const side = (uid: string, of: object) => ({
      map: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { uid }, data: { kubelet: JSON.stringify({ ...empty, ...of }) } },
      key: 'kubelet',
    });
    assert.deepEqual(kubeletConfigs().needsDrain(side('a', {}), side('b', to), version), fields);
  });
const empty = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
