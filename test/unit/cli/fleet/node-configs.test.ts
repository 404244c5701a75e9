import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { nodeConfigs } from '../../../../agent/status/node-config.ts';
import { fleetState, type Carrier, type FleetState } from '../../../../controllers/fleet/fleet-node.ts';
import { AGENT_ANNOTATION, fleetNode } from '../../../../controllers/fleet/read-fleet-node.ts';
import { definitions } from '../../../../deploy/manifests.ts';
import { configMaps, nodes, type KubeObject } from '../../../../kube/api/object.ts';
import { runCli, type Ran } from '../../../support/cli-context.ts';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { eventually } from '../../../support/eventually.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import type { LocalApi } from '../../../../apiserver/local-api.ts';
import { realClock } from '../../../../base/clock.ts';

const spec = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const web = { ...spec, uid: 'u', resourceVersion: '7' };
const ASSIGN = '--configmap dkc-system/web --key';
const api = localApi(realClock, { dynamicKubeletConfig: false, definitions: definitions({ cel: false }) });
const client = localClient(api);

const run = (argv: string, on: LocalApi = api): Promise<Ran> => runCli(argv.split(' '), { connect: async () => localClient(on) });
const configOf = (name: string) => client.get<KubeObject & { spec?: unknown }>(nodeConfigs, { name });
const report = (name: string, status: unknown) => client.patch(nodeConfigs, { name }, { status }, { type: 'merge', subresource: 'status' });

before(async () => {
  for (const name of ['node-a', 'node-b']) await client.create(nodes, { metadata: { name, labels: { pool: name } } });
  await client.create(configMaps, { metadata: { name: 'web', namespace: 'dkc-system' }, data: { kubelet: 'x' } });
});
after(() => client.close());

test('assign creates the NodeConfig with the Node as its owner, and writes to it the next time', async () => {
  assert.equal((await run('unassign node-a')).code, 0);
  await assert.rejects(configOf('node-a'), /not found/, 'there is nothing to take back');
  const { code, stdout, stderr } = await run('assign node-a --configmap dkc-system/web --key kubelet -o wide');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^node-a +dkc-system\/web:kubelet +nodeconfig$/m);
  const { uid } = (await client.get(nodes, { name: 'node-a' })).metadata;
  const created = await configOf('node-a');
  assert.deepEqual(created.metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid }]);
  assert.deepEqual(created.spec, { configMap: spec });

  assert.equal((await run('assign node-a --configmap dkc-system/web --key other')).code, 0);
  const patched = await configOf('node-a');
  assert.deepEqual([patched.metadata.uid, patched.spec], [created.metadata.uid, { configMap: { ...spec, kubeletConfigKey: 'other' } }]);
  assert.equal((await run('unassign node-a')).code, 0);
  const left = await configOf('node-a');
  assert.deepEqual([left.metadata.uid, left.spec], [created.metadata.uid, {}]);
});

test('a write that met another one is done again; one that always does fails; a creation that is refused names its node', async () => {
  const conflicts = (count: number) => api.hooks.setFaults(parseFaults([{ verb: 'patch', resource: 'nodeconfigs', status: 409, count }]));
  const assign = (key: string) => run(`assign node-b ${ASSIGN} ${key}`);
  await assign('before');
  conflicts(2);
  assert.equal((await assign('kubelet')).code, 0);
  assert.deepEqual((await configOf('node-b')).spec, { configMap: spec });
  conflicts(100);
  const { code, stderr } = await assign('other');
  api.hooks.setFaults([]);
  assert.deepEqual([code, /409 Conflict/.test(stderr)], [3, true]);
  await client.delete(nodeConfigs, { name: 'node-b' });
  api.hooks.setFaults(parseFaults([{ verb: 'create', resource: 'nodeconfigs', status: 403 }]));
  const refused = await assign('other');
  api.hooks.setFaults([]);
  assert.match(refused.stderr, /^dkc: Cannot create NodeConfig node-b: Cannot POST [^(]*403 Forbidden: [^(]*\n$/);
});

test('nodes joins each Node with its NodeConfig', async () => {
  await run('assign node-a --configmap dkc-system/web --key kubelet');
  const configMap = { configMap: web };
  const { generation } = (await configOf('node-a')).metadata;
  await report('node-a', { observedGeneration: generation, assigned: configMap, active: configMap, agentVersion: '1.0.0' });
  assert.match((await run('nodes -o wide')).stdout, /^node-a +trial +dkc-system\/web:kubelet@7 .* 1\.0\.0 +nodeconfig /m);
  await report('node-a', { lastKnownGood: configMap });
  const { stdout } = await run('nodes -l pool=node-a -o json');
  assert.deepEqual(JSON.parse(stdout), [{ node: 'node-a', state: 'trusted', assigned: web, active: web, lastKnownGood: web, error: null, carrier: 'nodeconfig' }]); // prettier-ignore
  assert.match((await run('nodes node-a -v')).stderr, /^dkc: note: API server v1\.36\.3 serves NodeConfigs: nodes use theirs/);
});

test('assign --wait follows the NodeConfig, and takes no report about an earlier spec for an answer', async () => {
  const { generation = 0 } = (await configOf('node-a')).metadata;
  await report('node-a', { observedGeneration: generation, error: 'failed to validate config, see Kubelet log for details' });
  const waiting = run('assign node-a --configmap dkc-system/other --key kubelet --wait=active --timeout=100s');
  await eventually('it is assigned', async () => JSON.stringify((await configOf('node-a')).spec).includes('other'));
  const configMap = { configMap: { ...web, name: 'other' } };
  await report('node-a', { observedGeneration: generation + 1, error: null, assigned: configMap, active: configMap });
  const { code, stderr } = await waiting;
  assert.equal(code, 0);
  assert.match(stderr, /^node-a: active after \d+s$/m);
});

const without = { dynamicKubeletConfig: false };
const install = String.raw`; to install them: dkc deploy manifests \| kubectl apply -f -\n`;
const limited = [
  { why: 'keeps no assignments', options: without, argv: 'assign', code: 3, says: `^dkc: Cannot assign a ConfigMap to nodes: API server v1\\.36\\.3 drops Node\\.spec\\.configSource and does not serve NodeConfigs${install}$` },
  { why: 'keeps no assignments', options: without, argv: 'nodes', code: 0, says: `^dkc: note: API server v1\\.36\\.3 drops .*${install}$` },
  { why: 'keeps no assignments', options: without, argv: 'unassign node-a', code: 0, says: `^dkc: note: API server v1\\.36\\.3 drops .*${install}$` },
  { why: 'has its gate off', options: { ...without, version: 'v1.22.0' }, argv: 'assign', code: 3, says: 'Node node-a: the API server dropped spec\\.configSource without an error: its feature gate ' },
  { why: 'serves no NodeConfigs, with --carrier', options: {}, argv: 'assign --carrier=nodeconfig', code: 3, says: `does not serve NodeConfigs: nodes use Node\\.spec\\.configSource; to install them: dkc deploy manifests --kubernetes-version=1\\.20 ` },
]; // prettier-ignore
for (const { why, options, argv, code, says } of limited)
  test(`${argv} on a server that ${why}: exit ${code}`, async () => {
    const server = localApi(realClock, options);
    for (const name of ['node-a', 'node-b']) server.add({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
    const ran = await run(argv.replace(/^assign/, `assign node-a node-b ${ASSIGN} kubelet`), server);
    assert.equal(ran.code, code);
    assert.match(ran.stderr, new RegExp(says));
  });

test('--carrier=nodeconfig moves a node, which keeps what its Node says until its agent reports', async () => {
  const server = localApi(realClock, { dynamicKubeletConfig: true, definitions: definitions({ cel: false }) });
  const admin = localClient(server);
  await admin.create(nodes, { metadata: { name: 'node-a' } });
  const config = { assigned: { configMap: web }, active: { configMap: web }, lastKnownGood: { configMap: web } };
  await admin.patch(nodes, { name: 'node-a' }, { status: { config } }, { type: 'merge', subresource: 'status' });
  const line = async () => /^node-a +(\S+).* (node\w*) +-$/m.exec((await run('nodes -o wide', server)).stdout)?.slice(1);
  await run('assign node-a --configmap dkc-system/web --key kubelet', server);
  assert.deepEqual(await line(), ['trusted', 'node']);
  await run('assign node-a --configmap dkc-system/web --key kubelet --carrier=nodeconfig', server);
  assert.deepEqual(await line(), ['pending', 'nodeconfig']);
  await admin.patch(nodeConfigs, { name: 'node-a' }, { status: { observedGeneration: 1, ...config } }, { type: 'merge', subresource: 'status' }); // prettier-ignore
  assert.deepEqual(await line(), ['trusted', 'nodeconfig']);
  const { code, stderr } = await run('assign node-a --configmap dkc-system/web --key kubelet --carrier=node', server);
  assert.deepEqual([code, stderr.split('; ')[1]], [3, 'delete it first: kubectl delete nodeconfig node-a\n']);
  await admin.close();
});

const both = { servesNodeConfigs: true, hasConfigSource: true };
const modern = { servesNodeConfigs: true, hasConfigSource: false };
const assigned = { spec: { configSource: { configMap: spec } } };
const reported = { status: { config: { assigned: { configMap: web }, active: { configMap: web }, lastKnownGood: { configMap: web } } } };
const annotated = { metadata: { name: 'a', annotations: { [AGENT_ANNOTATION]: '{"version":"1.0.0"}' } } };
const keeping = {
  metadata: { name: 'a', annotations: { [AGENT_ANNOTATION]: JSON.stringify({ version: '1.0.0', trial: null, ...reported.status }) } },
};
const config = (over = {}): KubeObject => ({ metadata: { name: 'a', generation: 2 }, spec: { configMap: spec }, ...over });
const rows: { why: string; node?: object; config?: KubeObject; serves?: typeof both; is: `${FleetState} ${Carrier}` }[] = [
  { why: 'has a NodeConfig beside an assignment of its Node', node: { ...assigned, ...reported }, config: config({ spec: {}, status: { observedGeneration: 2, agentVersion: '1' } }), is: 'local nodeconfig' },
  { why: 'has an assignment and no NodeConfig', node: { ...assigned, ...reported }, is: 'trusted node' },
  { why: 'was unassigned on a later server', node: { ...reported, ...annotated }, serves: modern, is: 'pending nodeconfig' },
  { why: 'has nothing at all', is: 'no-agent nodeconfig' },
  { why: 'has an agent and no NodeConfig', node: annotated, serves: modern, is: 'local nodeconfig' },
  { why: 'keeps what a deleted NodeConfig assigned', node: keeping, serves: modern, is: 'pending nodeconfig' },
  { why: 'has a NodeConfig that its agent has not reported on', node: annotated, config: config(), is: 'pending nodeconfig' },
  { why: 'reported an error about an earlier spec', config: config({ status: { observedGeneration: 1, error: 'failed to load config', agentVersion: '1' } }), is: 'pending nodeconfig' },
  { why: 'reports an error about this spec', config: config({ status: { observedGeneration: 2, error: 'failed to sync', agentVersion: '1' } }), is: 'error nodeconfig' },
]; // prettier-ignore
for (const { why, node = {}, config, serves = both, is } of rows)
  test(`a node is ${is} that ${why}`, () => {
    const seen = fleetNode({ metadata: { name: 'a' }, ...node }, config, serves);
    assert.equal(`${fleetState(seen)} ${seen.carrier}`, is);
  });
