import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { startApiServer, type ApiServer } from '../../../apiserver/server.ts';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { seededRandom } from '../../../base/random.ts';
import { configMaps, nodes } from '../../../kube/api/object.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { runCli, type Ran } from '../../helpers/cli-context.ts';
import type { Client } from '../../../kube/client/client.ts';

const parts = { clock: realClock, random: seededRandom(1), log: silentLog };
const servers: ApiServer[] = [];
let client: Client;

async function serve(gate: boolean): Promise<ApiServer> {
  const server = await startApiServer({ ...parts, tls: false, dynamicKubeletConfig: gate });
  servers.push(server);
  return server;
}

const clientOf = ({ url, token }: ApiServer): Client => createClient({ origin: 'test', server: url, token });

before(async () => {
  client = clientOf(await serve(true));
  for (const name of ['node-a', 'node-b', 'node-c'])
    await client.create(nodes, { metadata: { name, labels: { pool: name === 'node-c' ? 'db' : 'web' } } });
  await client.create(configMaps, { metadata: { name: 'web', namespace: 'dkc-system' }, data: { kubelet: 'x' } });
});
after(async () => {
  await client.close();
  for (const server of servers) await server.stop();
});

const run = (argv: string): Promise<Ran> => runCli(argv.split(' '), { connect: async () => clientOf(servers[0] ?? assert.fail()) });
const config = (name: string) => client.get<Awaited<ReturnType<Client['get']>> & { spec?: { configSource?: unknown } }>(nodes, { name });

async function report(name: string, status: unknown): Promise<void> {
  await client.patch(nodes, { name }, { status: { config: status } }, { type: 'merge', subresource: 'status' });
}

test('assign writes the source to each node once and shows the carrier', async () => {
  const { code, stdout, stderr } = await run('assign node-a node-b node-a --configmap dkc-system/web --key kubelet -o json');
  assert.deepEqual([code, stderr], [0, '']);
  const { uid, resourceVersion } = (await client.get(configMaps, { namespace: 'dkc-system', name: 'web' })).metadata;
  const source = { namespace: 'dkc-system', name: 'web', uid, resourceVersion, kubeletConfigKey: 'kubelet' };
  assert.deepEqual(JSON.parse(stdout), [
    { node: 'node-a', carrier: 'node', source },
    { node: 'node-b', carrier: 'node', source },
  ]);
  assert.deepEqual((await config('node-b')).spec?.configSource, {
    configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' },
  });
});

test('assign again with another key replaces the whole source', async () => {
  const { code, stderr } = await run('assign node-a --configmap dkc-system/web --key other');
  assert.equal(code, 0);
  assert.equal(stderr, 'dkc: note: ConfigMap dkc-system/web has no key other yet\n');
  assert.deepEqual((await config('node-a')).spec?.configSource, {
    configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'other' },
  });
});

test('a ConfigMap that does not exist yet may be assigned, with a word about it', async () => {
  const { code, stderr, stdout } = await run('assign node-a --configmap dkc-system/later --key kubelet -o json');
  assert.equal(code, 0);
  assert.match(stderr, /^dkc: note: ConfigMap dkc-system\/later does not exist yet/);
  assert.deepEqual((JSON.parse(stdout) as { source: { uid: unknown } }[])[0]?.source.uid, null);
});

test('a ConfigMap in a namespace that agents do not read unless told so may be assigned, with one word about it', async () => {
  await client.create(configMaps, { metadata: { name: 'elsewhere', namespace: 'default' }, data: { kubelet: 'x' } });
  const { code, stderr } = await run('assign node-a --configmap default/elsewhere --key kubelet');
  assert.equal(code, 0);
  assert.match(
    stderr,
    /^dkc: note: ConfigMap default\/elsewhere can only be read by agents .*--configmap-namespace is dkc-system unless set.*\n$/,
  );
});

test('what is to be noted of a ConfigMap does not stand in the way of an error', async () => {
  const { code, stderr } = await run('assign node-x --configmap default/later --key kubelet');
  assert.equal(code, 3);
  assert.match(stderr, /^dkc: Cannot find Node node-x: .*\n$/);
});

test('unassign takes it away, also where nothing was', async () => {
  const { code, stdout } = await run('unassign node-a node-b node-c -o json');
  assert.equal(code, 0);
  assert.deepEqual(
    JSON.parse(stdout),
    ['node-a', 'node-b', 'node-c'].map((node) => ({ node, carrier: 'node', source: null })),
  );
  assert.equal((await config('node-a')).spec?.configSource ?? null, null);
});

test('a node that does not exist is exit 3; the others get theirs', async () => {
  const { code, stdout, stderr } = await run('assign node-x node-a node-y --configmap dkc-system/web --key kubelet');
  assert.equal(code, 3);
  assert.match(stdout, /^node-a +dkc-system\/web:kubelet$/m);
  assert.deepEqual(
    stderr.split('\n').map((line) => /Cannot find Node (node-\w): the API server has none of that name/.exec(line)?.[1]),
    ['node-y', 'node-x', undefined],
  );
});

for (const [argv, says] of [
  ['assign node-a --configmap web --key kubelet', /--configmap must be NAMESPACE\/NAME/],
  ['assign node-a --configmap a/b/c --key kubelet', /--configmap must be NAMESPACE\/NAME/],
  ['assign node-a --configmap dkc-system/WEB --key kubelet', /name: Invalid value/],
  ['assign node-a --configmap dkc-system/web --key ../x', /kubeletConfigKey: Invalid value/],
  ['assign node-a --key kubelet', /--configmap is missing/],
  ['assign --configmap dkc-system/web --key kubelet', /NODE is missing/],
] as const)
  test(`wrong usage: ${argv}`, async () => {
    const { code, stderr } = await run(argv);
    assert.equal(code, 2);
    assert.match(stderr, says);
  });

test('nodes shows where each one stands, and json holds just the contract', async () => {
  await run('unassign node-a node-b node-c');
  await run('assign node-a node-b --configmap dkc-system/web --key kubelet');
  const source = { namespace: 'dkc-system', name: 'web', uid: 'u', resourceVersion: '7', kubeletConfigKey: 'kubelet' };
  await report('node-a', { assigned: { configMap: source }, active: { configMap: source }, lastKnownGood: { configMap: source } });
  const table = (await run('nodes')).stdout;
  assert.match(table, /^node-a +settled +dkc-system\/web:kubelet +dkc-system\/web:kubelet +dkc-system\/web:kubelet +-$/m);
  assert.match(table, /^node-b +silent +dkc-system\/web:kubelet +- +- +-$/m);
  assert.match(table, /^node-c +local +local +- +- +-$/m);
  const json = JSON.parse((await run('nodes -l pool=web -o json')).stdout) as unknown[];
  assert.deepEqual(json, [
    { node: 'node-a', assigned: source, active: source, lastKnownGood: source, error: null, carrier: 'node' },
    { node: 'node-b', assigned: null, active: null, lastKnownGood: null, error: null, carrier: 'node' },
  ]);
  assert.deepEqual((JSON.parse((await run('nodes node-c -o json')).stdout) as unknown[]).length, 1);
});

test('assign --wait ends with 0 once the node uses it', async () => {
  await run('unassign node-c');
  const waiting = run('assign node-c --configmap dkc-system/web --key kubelet --wait --timeout=100s');
  const source = { namespace: 'dkc-system', name: 'web', uid: 'u', resourceVersion: '7', kubeletConfigKey: 'kubelet' };
  while (((await config('node-c')).spec?.configSource ?? null) === null) await turn();
  await report('node-c', { assigned: { configMap: source }, active: null });
  await report('node-c', { active: { configMap: source } });
  assert.equal((await waiting).code, 0);
});

test('assign --wait ends with 1 and the error when the node refuses', async () => {
  await report('node-c', null);
  await run('unassign node-c');
  const waiting = run('assign node-c --configmap dkc-system/web --key kubelet --wait --timeout=100s');
  while (((await config('node-c')).spec?.configSource ?? null) === null) await turn();
  await report('node-c', { error: 'failed to validate config, see Kubelet log for details' });
  const { code, stderr } = await waiting;
  assert.equal(code, 1);
  assert.match(stderr, /^dkc: node-c: failed to validate config, see Kubelet log for details\. /);
});

test('assign --wait ends with 1 when the time is over', async () => {
  // It is over once the node was seen: the time that a first look takes is the machine's.
  const seen = Promise.withResolvers<void>();
  let drawn = '';
  const write = (text: string): void => {
    drawn += text;
    if (drawn.includes('node-b: no agent has reported yet')) seen.resolve();
  };
  const clock = {
    ...realClock,
    sleep: (ms: number, signal?: AbortSignal) => (ms === 3_600_000 ? seen.promise : realClock.sleep(ms, signal)),
  };
  const argv = 'assign node-b --configmap dkc-system/web --key kubelet --wait --timeout=1h'.split(' ');
  const over = { connect: async () => clientOf(servers[0] ?? assert.fail()), clock, stderr: { write, isTTY: true, columns: undefined } };
  assert.equal((await runCli(argv, over)).code, 1);
  assert.match(drawn, /dkc: .*node-b: no agent has reported yet when the time was over/);
});

test('a server that drops the field is found by reading back: exit 3 with the remedy', async () => {
  const gone = clientOf(await serve(false));
  await gone.create(nodes, { metadata: { name: 'node-a' } });
  const argv = ['assign', 'node-a', '--configmap', 'dkc-system/web', '--key', 'kubelet'];
  const { code, stderr } = await runCli(argv, { connect: async () => gone });
  assert.equal(code, 3);
  assert.match(stderr, /Cannot assign a ConfigMap to Node node-a: the API server dropped spec\.configSource without an error; .* gate on/);
});
