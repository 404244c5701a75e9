import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { parseManifests, readManifests, seed } from '../../../../cli/apiserver/seed.ts';
import { configMaps, nodes } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

const files = {
  '/seed/10-maps.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: late}\n---\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: late}\n',
  '/seed/20-list.json': '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}]}',
  '/seed/README.md': 'not a manifest',
};

for (const [text, says] of [
  ['{', /not YAML/],
  ['- a', /an object in it has no apiVersion, no kind, no metadata; add that/],
  ['{kind: List, items: [{apiVersion: v1, kind: Node}]}', /items\[0\] of its List has no metadata; /],
] as const)
  test(`a manifest file that holds ${JSON.stringify(text)} is refused`, () => assert.throws(() => parseManifests(text, '/f.yaml'), says));

function emptyApi(): Client {
  const clock = new FakeClock();
  return localClient(localApi(clock), { clock });
}

test('seeding takes all files of a directory, lists apart, and creates namespaces first', async () => {
  const client = emptyApi();
  assert.equal(await seed(client, await readManifests(memoryDisk(files), '/seed')), 3);
  assert.equal((await client.get(configMaps, { namespace: 'late', name: 'web' })).metadata.name, 'web');
  assert.equal((await client.get(nodes, { name: 'a' })).metadata.name, 'a');
});

for (const { why, text, says } of table('why | text | says')(`
  a kind that is not served | {apiVersion: v1, kind: Teapot, metadata: {name: a}}
    | Cannot create Teapot a of /f.yaml: the API server has no Teapot in v1; correct apiVersion and kind
  a group that is not served | {apiVersion: pots.io/v1, kind: Teapot, metadata: {name: a, namespace: x}}
    | Cannot create Teapot x/a of /f.yaml: the API server does not serve pots.io/v1; correct apiVersion, or add the CustomResourceDefinition to the manifests
  an invalid object | {apiVersion: v1, kind: ConfigMap, metadata: {name: UPPER, namespace: default}}
    | Cannot create ConfigMap default/UPPER of /f.yaml: the API server rejected it; correct the manifest
  a namespace that is not there | {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: gone}}
    | Cannot create ConfigMap gone/a of /f.yaml: namespace gone not found; add it to the manifests
  an object that is there | {apiVersion: v1, kind: Namespace, metadata: {name: default}}
    | Cannot create Namespace default of /f.yaml: it already exists; remove it, or the other manifest with that name
`)) {
  test(`seeding ${why} names file, object and remedy`, async () => {
    await assert.rejects(seed(emptyApi(), parseManifests(text, '/f.yaml')), { name: 'ActionError', message: says });
  });
}
