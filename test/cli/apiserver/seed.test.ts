import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLocalApi } from '../../../apiserver/local-api.ts';
import { startApiServer } from '../../../apiserver/server.ts';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { parseManifests, readManifests } from '../../../cli/apiserver/manifests.ts';
import { seed } from '../../../cli/apiserver/seed.ts';
import { configMaps, nodes } from '../../../kube/api/object.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { memoryDisk } from '../../helpers/memory-disk.ts';

const files = {
  '/seed/10-maps.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: late}\n---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: late}\n',
  '/seed/20-list.json': '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}]}',
  '/seed/README.md': 'not a manifest',
};

test('manifests are read from all files of a directory, lists taken apart, empty documents passed over', async () => {
  const found = await readManifests(memoryDisk(files), '/seed');
  assert.deepEqual(found.map(({ object }) => `${object.kind} ${object.metadata.name}`), ['ConfigMap web', 'Namespace late', 'Node a']); // prettier-ignore
});

for (const [text, says] of [
  ['{', /not YAML/],
  ['- a', /without apiVersion, kind and metadata/],
  ['kind: Node\nmetadata: {name: a}', /without apiVersion, kind and metadata/],
] as const)
  test(`a manifest file that holds ${JSON.stringify(text)} is refused`, () => assert.throws(() => parseManifests(text, '/f.yaml'), says));

test('a directory that is not there is an error that names it', async () => {
  await assert.rejects(readManifests(memoryDisk(files), '/gone'), /Cannot read manifests from \/gone/);
});

test('seeding creates namespaces first and says which kind the server does not have', async (t) => {
  const server = await startApiServer({ tls: false, clock: realClock, random: seededRandom(1), log: silentLog });
  const client = createClient({ origin: 'test', server: server.url, token: server.token });
  t.after(async () => {
    await client.close();
    await server.stop();
  });
  assert.equal(await seed(client, await readManifests(memoryDisk(files), '/seed')), 3);
  assert.equal((await client.get(configMaps, { namespace: 'late', name: 'web' })).metadata.name, 'web');
  assert.equal((await client.get(nodes, { name: 'a' })).metadata.name, 'a');
  const odd = parseManifests('apiVersion: v1\nkind: Teapot\nmetadata: {name: a}', '/odd.yaml');
  await assert.rejects(seed(client, odd), /Cannot create Teapot of \/odd\.yaml: the API server has no Teapot in v1/);
});

test('seeding creates definitions before what they define', async (t) => {
  const clock = new FakeClock();
  const api = createLocalApi({ clock, random: seededRandom(1), log: silentLog });
  const client = createClient({ origin: 'test', server: 'http://embedded.invalid', token: api.token }, { clock, dial: api.dial });
  t.after(() => client.close());
  const definition =
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: pots.test.io}\nspec: {group: test.io, scope: Cluster, ' +
    'names: {plural: pots, kind: Pot}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n';
  const text = `apiVersion: test.io/v1\nkind: Pot\nmetadata: {name: a}\n---\n${definition}`;
  assert.equal(await seed(client, parseManifests(text, '/pots.yaml')), 2);
  assert.ok(await client.raw('GET', '/apis/test.io/v1/pots/a'));
});
