import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeConfigs } from '../../../../agent/status/node-config.ts';
import { kubeletConfigs } from '../../../../controllers/rollout/kubelet-configs.ts';
import { contentHash } from '../../../../controllers/rollout/revision.ts';
import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import { ApiError, isConflict } from '../../../../kube/client/errors.ts';
import { fleetOf, patchNode, type FleetWorld } from '../../../support/fleet/fleet-world.ts';

async function copies({ client }: FleetWorld): Promise<string[]> {
  const { items } = await client.list(configMaps, { namespace: 'dkc-system' });
  return items.flatMap(({ metadata: { name = '', ownerReferences } }) => (ownerReferences === undefined ? [] : [name]));
}

/** Rolls out another content, to its end. @returns the name of its copy */
async function next(world: FleetWorld, maxPods: number): Promise<string> {
  const before = (await world.rollout('web')).status?.revision;
  await world.payload({ maxPods });
  const { status } = await world.until('web', 'it is complete', ({ status: now }) => now?.phase === 'Complete' && now.revision !== before);
  return status?.revision ?? '';
}

test('a copy is kept for as long as any node uses it, also one that the rollout does not select any more', async () => {
  await using world = await fleetOf(3, { labels: { pool: 'web' } });
  await world.roll('web', { nodeSelector: { matchLabels: { pool: 'web' } }, revisionHistoryLimit: 0, maxUnavailable: '100%' });
  const first = (await world.phase('web', 'Complete')).status?.revision ?? '';
  await patchNode(world, 'node-0', { metadata: { labels: { pool: null } } });
  await world.until('web', 'it has two nodes', ({ status }) => status?.nodes?.selected === 2);
  const copy = { name: first, namespace: 'dkc-system' };
  await assert.rejects(world.client.patch(configMaps, copy, { data: { kubelet: '{}' } }, { type: 'merge' }), /immutable/);
  await next(world, 121);
  const third = await next(world, 122);
  await world.clock.advance(60_000);
  assert.ok((await copies(world)).includes(first), 'node-0 is assigned it');

  await patchNode(world, 'node-0', { metadata: { labels: { pool: 'web' } } });
  await world.until('web', 'it has three nodes', ({ status }) => status?.nodes?.settled === 3);
  await world.clock.advance(60_000);
  assert.deepEqual((await copies(world)).includes(first), false);
  assert.ok((await copies(world)).includes(third));
});

test('a name that is cut for that of the copy leaves a valid one', async () => {
  await using world = await fleetOf(1);
  const name = `${`${'a'.repeat(60)}.`.repeat(3)}${'a'.repeat(58)}.${'b'.repeat(11)}`;
  await world.roll(name);
  await world.phase(name, 'Complete');
});

const noted = (words: string): string => `The API server refused what was planned: ${words}`;
for (const { why, verb, resource, words, says } of [
  { why: 'a quota that is full', verb: 'create', resource: 'configmaps', words: 'configmaps is forbidden: exceeded quota', says: /^ConfigMap dkc-system\/web-[0-9a-f]{10}: configmaps is forbidden: exceeded quota$/ }, // prettier-ignore
  { why: 'a right that is missing', verb: 'patch', resource: 'nodeconfigs', words: 'nodeconfigs.dkc.dev "node-0" is forbidden: User "x" cannot patch', says: /^nodeconfigs\.dkc\.dev "node-0" is forbidden: User "x" cannot patch$/ }, // prettier-ignore
  { why: 'a webhook that denies it', verb: 'patch', resource: 'nodeconfigs', words: 'admission webhook "w" denied the request: frozen', says: /^NodeConfig node-0: admission webhook "w" denied the request: frozen$/ }, // prettier-ignore
  { why: 'its own status that is denied', verb: 'replace', resource: 'nodeconfigrollouts/status', words: 'admission webhook "w" denied the request: no', says: /^status of NodeConfigRollout web: admission webhook "w" denied the request: no$/ }, // prettier-ignore
])
  test(`an event, and the status where it can be written, say what ${why} keeps from being written`, async () => {
    await using world = await fleetOf(1);
    const no = new ApiError({ method: 'POST', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message: words });
    world.between = (seen, pass) => (seen.verb === verb && seen.resource === resource ? Promise.reject(no) : pass());
    await world.roll('web');
    await world.clock.advance(10_000);
    const events = await world.events('web');
    const warning = events.find((event) => event.startsWith('WriteRefused: ')) ?? assert.fail(events.join('\n'));
    assert.match(warning.replace(`WriteRefused: ${noted('')}`, ''), says);
    const { message, conditions = [] } = (await world.rollout('web')).status ?? {};
    const isOfStatus = resource.endsWith('/status');
    const told = [message, ...conditions.filter(({ type }) => type === 'Progressing').map((one) => one.message)];
    for (const text of isOfStatus ? [] : told) assert.match(text?.split('; ').at(-1) ?? '', says);
    world.between = (_, pass) => pass();
    await world.clock.advance(60_000);
    const { message: after } = (await world.phase('web', 'Complete')).status ?? {};
    assert.equal(after, '1/1 nodes settled (node-0); all 1 node have the revision');
  });

test('what is refused in other words each time is tried less and less often, up to once a minute', async () => {
  await using world = await fleetOf(1);
  let tries = 0;
  world.between = (seen, pass) => {
    if (seen.verb !== 'patch' || seen.resource !== 'nodeconfigs' || tries > 100) return pass();
    const message = `denied: request ${++tries}`;
    return Promise.reject(new ApiError({ method: 'PATCH', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message }));
  };
  await world.roll('web');
  await world.clock.advance(300_000);
  assert.ok(tries > 5 && tries < 15, `${tries} tries in 5 minutes`);
  assert.match((await world.rollout('web')).status?.message ?? '', /: denied: request \d+$/);
  world.between = (_, pass) => pass();
  await world.clock.advance(60_000);
  await world.phase('web', 'Complete');
});

test('an old copy that may not be deleted keeps no node from the next revision', async () => {
  await using world = await fleetOf(1);
  const no = new ApiError({ method: 'DELETE', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message: 'no' });
  world.between = (seen, pass) => (seen.verb === 'delete' && seen.resource === 'configmaps' ? Promise.reject(no) : pass());
  await world.roll('web', { revisionHistoryLimit: 0 });
  await world.phase('web', 'Complete');
  for (const maxPods of [121, 122, 123]) await next(world, maxPods);
  assert.match((await world.rollout('web')).status?.message ?? '', /; ConfigMap dkc-system\/web-[0-9a-f]{10}: no/);
});

test('no node is assigned another attempt before its copy asks agents for it', async () => {
  await using world = await fleetOf(1);
  world.agents.bad = () => 'condemns';
  await world.roll('web');
  await world.phase('web', 'RolledBack');
  world.agents.bad = () => undefined;
  const no = new ApiError({ method: 'PATCH', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message: 'no' });
  world.between = (seen, pass) => (seen.verb === 'patch' && seen.resource === 'configmaps' ? Promise.reject(no) : pass());
  const { length } = world.agents.assigned;
  await world.edit('web', { attempt: 2 });
  await world.clock.advance(30_000);
  assert.equal(world.agents.assigned.length, length);
  world.between = (_, pass) => pass();
  await world.clock.advance(60_000);
  await world.phase('web', 'Complete');
});

for (const { why, alter, says } of [
  { why: 'names another ConfigMap', alter: (one: KubeObject) => ({ ...one, spec: { configMap: { namespace: 'dkc-system', name: 'other', kubeletConfigKey: 'kubelet' } } }), says: /^NodeConfig node-0: the API server accepts the write, but keeps dkc-system\/other:kubelet instead of dkc-system\/web-[0-9a-f]{10}:kubelet; an admission webhook or policy changes it$/ }, // prettier-ignore
  { why: 'loses the time of the assignment', alter: (one: KubeObject) => ({ ...one, metadata: { ...one.metadata, annotations: {} } }), says: /^NodeConfig node-0: the API server accepts the write, but drops the annotation dkc\.dev\/rollout-assigned-at, from which spec\.nodeDeadline counts; an admission webhook or policy changes it$/ }, // prettier-ignore
])
  test(`an event says that a NodeConfig ${why} on its way through admission`, async () => {
    await using world = await fleetOf(1);
    world.between = async (seen, pass) => {
      const answer = await pass();
      return seen.verb === 'patch' && seen.resource === 'nodeconfigs' ? alter(answer as KubeObject) : answer;
    };
    await world.roll('web');
    await world.clock.advance(10_000);
    const events = await world.events('web');
    const warning = events.find((event) => event.startsWith('WriteRefused: ')) ?? assert.fail(events.join('\n'));
    assert.match(warning.replace(`WriteRefused: ${noted('')}`, ''), says);
  });

test('what agents read of a ConfigMap makes another revision, a label does not', () => {
  const hash = (metadata: object): string => contentHash({ metadata, data: { kubelet: '{}' } }, 'kubelet');
  assert.equal(hash({ labels: { a: 'b' } }), hash({}));
  assert.notEqual(hash({ annotations: { 'dkc.dev/allow': 'maxPods' } }), hash({}));
});

test('an assignment goes over nothing that was written since it was planned', async () => {
  await using world = await fleetOf(1);
  let refused: unknown;
  world.between = async (call, pass) => {
    if (refused !== undefined || call.verb !== 'patch' || call.resource !== 'nodeconfigs') return pass();
    await world.client.patch(nodeConfigs, { name: 'node-0' }, { metadata: { labels: { pool: 'a' } } }, { type: 'merge' });
    return pass().catch((error: unknown) => Promise.reject((refused = error)));
  };
  await world.roll('web');
  await world.phase('web', 'Complete');
  assert.ok(isConflict(refused));
});

test('another key of the ConfigMap is another revision, and failures take nodes back to the key that they had', async () => {
  await using world = await fleetOf(3);
  const other = JSON.stringify({ ...empty, maxPods: 13 });
  await world.client.patch(configMaps, { name: 'web', namespace: 'dkc-system' }, { data: { other } }, { type: 'merge' });
  await world.roll('web');
  const good = (await world.phase('web', 'Complete')).status?.revision ?? '';
  world.agents.bad = (text) => (text.includes('13') ? 'condemns' : undefined);
  await world.edit('web', { configMap: { kubeletConfigKey: 'other' } });
  await world.phase('web', 'RolledBack');
  type Assigned = KubeObject & { spec?: { configMap?: { name?: string; kubeletConfigKey?: string } } };
  const { items } = await world.client.list<Assigned>(nodeConfigs);
  for (const { spec } of items) assert.deepEqual([spec?.configMap?.name, spec?.configMap?.kubeletConfigKey], [good, 'kubelet']);
});

test('a rollout that names a ConfigMap of another namespace has no copy there, and assigns none', async () => {
  await using world = await fleetOf(1);
  await world.roll('web');
  await world.phase('web', 'Complete');
  await world.edit('web', { configMap: { namespace: 'other' } });
  const { status } = await world.until('web', 'it misses the ConfigMap', ({ status: now }) => now?.waitsFor === 'ConfigMap');
  assert.equal(status?.message, 'ConfigMap other/web not found');
});

const empty = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const drains = [
  { why: 'a field whose change pods notice needs one', version: 'v1.20.2', to: { maxPods: 13 }, fields: ['maxPods'] },
  { why: 'a feature gate needs one where Nodes declare features', version: 'v1.36.3', to: { featureGates: { PodsAPI: true } }, fields: ['featureGates.PodsAPI'] },
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
