import assert from 'node:assert/strict';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { nodes, configMaps } from '../../../../kube/api/object.ts';
import { isJsonObject } from '../../../../kube/api/json.ts';
import { connect } from '../../../../cli/connect/connect.ts';
import { cliContext, runCli } from '../../../support/cli-context.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { dispatch } from '../../../../cli/dispatch.ts';
import { commands } from '../../../../cli/commands.ts';
import { table } from '../../../support/table.ts';
import { parseManifests, readManifests, seed } from '../../../../cli/apiserver/seed.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';

async function up(t: TestContext, flags: readonly string[]) {
  const dir = await tempDir(t);
  const ended = new AbortController();
  const line = Promise.withResolvers<string>();
  const stdout = { write: (text: string) => line.resolve(text), isTTY: false, columns: undefined };
  await mkdir(join(dir, 'seed'));
  await writeFile(join(dir, 'seed', 'node.yaml'), 'apiVersion: v1\nkind: Node\nmetadata: {name: seeded}\n');
  await writeFile(join(dir, 'faults.json'), JSON.stringify([{ verb: 'list', resource: 'nodes', status: 503, count: 1 }]));
  const { context, err } = cliContext({ stdout, signal: ended.signal, path: (text) => join(dir, text) });
  const running = dispatch(commands, ['apiserver', ...flags], context);
  const end = (): Promise<number> => {
    ended.abort();
    return running;
  };
  t.after(end);
  const text = await Promise.race([line.promise, running.then(() => Promise.reject(new Error(err())))]);
  const ready = JSON.parse(text) as { url: string; kubeconfig: string; pid: number };
  return { ready, dir, end };
}

test('apiserver says one line when it is ready, serves what was planted and ends with 0', async (t) => {
  const { ready, dir, end } = await up(t, ['--write-kubeconfig=kc', '--seed=seed']);
  assert.deepEqual(Object.keys(ready), ['url', 'kubeconfig', 'pid']);
  assert.match(ready.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  assert.deepEqual([ready.kubeconfig, ready.pid], [join(dir, 'kc'), process.pid]);
  assert.equal((await stat(ready.kubeconfig)).mode & 0o777, 0o600);
  const client = await connect({ kubeconfig: ready.kubeconfig }, {});
  assert.equal((await client.get(nodes, { name: 'seeded' })).metadata.name, 'seeded');
  await client.close();
  assert.equal(await end(), 0);
  await readFile(ready.kubeconfig);
});

test('without --write-kubeconfig there is a temporary one, removed at the end', async (t) => {
  const { ready, end } = await up(t, []);
  assert.match(await readFile(ready.kubeconfig, 'utf8'), /current-context/);
  assert.equal(await end(), 0);
  await assert.rejects(readFile(ready.kubeconfig), { code: 'ENOENT' });
});

for (const { why, flags, version, keeps } of [
  { why: 'keeps the fields, as 1.20', flags: [], version: 'v1.20.2', keeps: true },
  { why: 'drops them, as 1.36', flags: ['--dynamic-kubelet-config=false'], version: 'v1.36.3', keeps: false },
  { why: 'drops them by its version', flags: ['--kubernetes-version=1.36'], version: 'v1.36.0', keeps: false },
]) {
  test(`with ${flags.join(' ') || 'no flags'} it ${why}`, async (t) => {
    const { ready } = await up(t, flags);
    const client = await connect({ kubeconfig: ready.kubeconfig }, {});
    t.after(() => client.close());
    const answer = await client.raw('GET', '/version');
    assert.ok(isJsonObject(answer));
    assert.equal(answer['gitVersion'], version);
    const source = { configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'c' } };
    const made = await client.create(nodes, { metadata: { name: 'n' }, spec: { configSource: source } });
    assert.equal(isJsonObject(made['spec']) && 'configSource' in made['spec'], keeps);
  });
}

test('--faults answers as the file says', async (t) => {
  const { ready } = await up(t, ['--faults=faults.json']);
  const client = await connect({ kubeconfig: ready.kubeconfig }, {});
  t.after(() => client.close());
  await assert.rejects(client.list(nodes), { code: 503 });
  await client.list(nodes);
});

for (const [flag, code, says] of [
  ['--listen=0.0.0.0:0', 3, /Cannot listen/],
  ['--faults=/gone.json', 3, /Cannot use the faults in \/gone\.json: no such file; an empty file means no faults/],
  ['--seed=/gone', 3, /Cannot read manifests from \/gone/],
  ['--kubernetes-version=latest', 2, /--kubernetes-version=latest is not a Kubernetes release: write it as 1\.36 or 1\.36\.3/],
] as const)
  test(`apiserver ${flag} is refused with ${code}`, async () => {
    const ran = await runCli(['apiserver', flag]);
    assert.deepEqual([ran.code, says.test(ran.stderr)], [code, true], ran.stderr);
  });

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
