import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { realClock } from '../../../../base/clock.ts';
import { refusedEvent } from '../../../../agent/events/event.ts';
import { configMaps, coreEvents, nodes, type KubeObject } from '../../../../kube/api/object.ts';
import { Interrupted } from '../../../../cli/failure.ts';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { runCli, type Ran } from '../../../support/cli-context.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Client } from '../../../../kube/client/client.ts';

const web = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const ASSIGN = '--configmap dkc-system/web --key kubelet';
const api = localApi(realClock);
const client = localClient(api);
const connect = async (): Promise<Client> => localClient(api);

before(async () => {
  for (const name of ['node-a', 'node-b', 'node-c'])
    await client.create(nodes, { metadata: { name, labels: { pool: name === 'node-c' ? 'db' : 'web' } } });
  await client.create(configMaps, { metadata: { name: 'web', namespace: 'dkc-system' }, data: { kubelet: 'x' } });
  await client.create(configMaps, { metadata: { name: 'else', namespace: 'default' }, data: { kubelet: 'x' } });
  await client.create(configMaps, { metadata: { name: 'bin', namespace: 'dkc-system' }, binaryData: { kubelet: '//5hAA==' } });
});
after(() => client.close());

const run = (argv: string): Promise<Ran> => runCli(argv.split(' '), { connect });
const sourceOf = async (name: string): Promise<unknown> =>
  (await client.get<KubeObject & { spec?: { configSource?: unknown } }>(nodes, { name })).spec?.configSource ?? null;
const report = (name: string, status: unknown): Promise<unknown> =>
  client.patch(nodes, { name }, { status: { config: status } }, { type: 'merge', subresource: 'status' });
/** What is assigned, as a node that has taken it over reports it. */
async function assignedSource(): Promise<object> {
  const { uid, resourceVersion } = (await client.get(configMaps, { namespace: 'dkc-system', name: 'web' })).metadata;
  return { ...web, uid, resourceVersion };
}

test('assign writes the source to each node once and shows the carrier', async () => {
  const { code, stdout, stderr } = await run(`assign node-a node-b node-a ${ASSIGN} -o json`);
  assert.deepEqual([code, stderr], [0, '']);
  const source = await assignedSource();
  assert.deepEqual(JSON.parse(stdout), ['node-a', 'node-b'].map((node) => ({ node, carrier: 'node', source }))); // prettier-ignore
  assert.deepEqual(await sourceOf('node-b'), { configMap: web });
});

const notes = [
  ['dkc-system/web --key other', 'ConfigMap dkc-system/web has no key other yet'],
  ['dkc-system/later --key kubelet', 'ConfigMap dkc-system/later does not exist yet'],
  ['default/else --key kubelet', 'agents read ConfigMaps only in dkc-system unless started with --configmap-namespace; this one is in default'],
  ['dkc-system/bin --key kubelet', 'ConfigMap dkc-system/bin has kubelet as binaryData, which agents do not read: its file is not UTF-8 text'],
] as const; // prettier-ignore
for (const [argv, note] of notes)
  test(`assign --configmap ${argv} replaces the whole source, with a word about it`, async () => {
    const { code, stderr } = await run(`assign node-a --configmap ${argv}`);
    assert.deepEqual([code, stderr.split('\n').length, stderr.startsWith(`dkc: note: ${note}`)], [0, 2, true], stderr);
    const [namespace, name, , kubeletConfigKey] = argv.split(/[ /]/);
    assert.deepEqual(await sourceOf('node-a'), { configMap: { namespace, name, kubeletConfigKey } });
  });

test('a node that does not exist is exit 3; the others get theirs', async () => {
  const { code, stdout, stderr } = await run('assign node-x node-a node-y --configmap dkc-system/web --key kubelet');
  assert.equal(code, 3);
  assert.match(stdout, /^node-a +dkc-system\/web:kubelet$/m);
  assert.deepEqual(stderr.match(/Node "node-\w" not found/g), ['Node "node-y" not found', 'Node "node-x" not found']);
});

for (const [argv, says] of [
  ['assign node-a --configmap web --key kubelet', /--configmap must be NAMESPACE\/NAME/],
  ['assign node-a --configmap dkc-system/web --key ../x', /kubeletConfigKey: Invalid value/],
  ['assign --configmap dkc-system/web --key kubelet', /NODE is missing: name nodes, or give -l SELECTOR or --all/],
  ['assign node-a --all --configmap dkc-system/web --key kubelet', /cannot be combined/],
  ['assign node-a --configmap dkc-system/web --key kubelet --wait --dry-run', /--dry-run and --wait cannot be combined/],
  ['nodes node-a -l pool=web', /a name and a selector cannot be combined/],
  [
    'nodes -l =, --context=none',
    /^dkc: nodes: --selector must be a label selector such as pool=web,tier!=test: .+ see dkc nodes --help\n$/,
  ],
  ['unassign -l a,,b', /^dkc: unassign: --selector must be a label selector/],
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
  assert.match((await run('nodes')).stdout, /^node-c +no-agent +local +- +- +-$/m);
  assert.match((await run('nodes node-a nope')).stderr, /^dkc: Node "nope" not found; `dkc nodes` lists them\n$/);
  const json = JSON.parse((await run('nodes -l pool=web -o json')).stdout) as unknown[];
  assert.deepEqual(json, [
    { node: 'node-a', state: 'trusted', assigned: source, active: source, lastKnownGood: source, error: null, carrier: 'node' },
    { node: 'node-b', state: 'no-agent', assigned: { ...source, uid: null, resourceVersion: null }, active: null, lastKnownGood: null, error: null, carrier: 'node' },
  ]); // prettier-ignore
});

/** `assign node-c --wait`, at the point where it is written and the node has not answered. */
async function waiting(): Promise<{ ran: Promise<Ran> }> {
  await report('node-c', null);
  await run('unassign node-c');
  const ran = run(`assign node-c ${ASSIGN} --wait --timeout=100s`);
  while ((await sourceOf('node-c')) === null) await turn();
  return { ran };
}

test('assign --wait goes on through the trial, and ends with 0 when the node trusts it', async () => {
  const { ran } = await waiting();
  const configMap = await assignedSource();
  await report('node-c', { assigned: { configMap }, active: { configMap } });
  assert.match((await run('nodes node-c')).stdout, /^node-c +trial +/m);
  assert.equal((await run('nodes node-c --check')).stderr, 'dkc: 1/1 nodes are not trusted or local: node-c (trial)\n');
  await report('node-c', { lastKnownGood: { configMap } });
  const { code, stderr } = await ran;
  assert.deepEqual([code, /^node-c: trusted after \d+s\n$/.test(stderr)], [0, true], stderr);
  assert.equal((await run('nodes node-c --check')).code, 0);
});

test('assign --wait ends with 1 and the error when the node refuses', async () => {
  const { ran } = await waiting();
  const facts = { nodeName: 'node-c', nowMs: Date.now(), nanos: 1 };
  const about = { ...web, uid: 'u', resourceVersion: '7' };
  // Of this ConfigMap, and under a key that it was assigned with later.
  for (const [at, kubeletConfigKey] of ['kubelet', 'bin'].entries()) {
    const field = at === 0 ? 'authentication.x509' : 'maxPods';
    const findings = [{ field, rule: 'policy', message: `${field} differs` }];
    const refused = refusedEvent({ ...about, kubeletConfigKey }, findings, { ...facts, nowMs: facts.nowMs + 2000 * at });
    await client.create(coreEvents, refused, { namespace: 'default' });
  }
  await report('node-c', { error: 'failed to validate config, see Kubelet log for details' });
  const { code, stderr } = await ran;
  assert.equal(code, 1);
  assert.match(stderr, /^dkc: node-c refused dkc-system\/web:kubelet@\d+ after \d+s: authentication\.x509 differs \[policy\]\. It still runs local\n$/); // prettier-ignore
});

test('assign takes a selector, all nodes, and names as kubectl writes them', async () => {
  await run('unassign --all');
  const assigned = async (argv: string) => (await run(`assign ${argv} ${ASSIGN} -o name`)).stdout;
  assert.equal(await assigned('-l pool=web --dry-run=server'), 'node/node-a\nnode/node-b\n');
  assert.equal(await sourceOf('node-a'), null, 'a dry run writes nothing');
  assert.equal(await assigned('-l pool=web'), 'node/node-a\nnode/node-b\n');
  assert.equal(await assigned('node/node-c node-a,node-b'), 'node/node-c\nnode/node-a\nnode/node-b\n');
  assert.equal(await assigned('--all'), 'node/node-a\nnode/node-b\nnode/node-c\n');
  const { code, stderr } = await run(`assign -l pool=none ${ASSIGN}`);
  assert.deepEqual([code, stderr], [3, 'dkc: Cannot find nodes: no node matches pool=none\n']);
});

/** `dkc nodes -w` until stdout matches, then Ctrl-C. */
async function watched(argv: string, steps: readonly { until: RegExp; act: () => Promise<unknown> }[]): Promise<Ran> {
  const control = new AbortController();
  let stdout = '';
  const write = (text: string): void => void (stdout += text);
  const ran = runCli(argv.split(' '), { connect, signal: control.signal, stdout: { write, isTTY: false, columns: undefined } });
  for (const { until, act } of steps) {
    await eventually(String(until), () => until.test(stdout));
    await act();
  }
  control.abort(new Interrupted());
  return { ...(await ran), stdout };
}

test('nodes -w shows those that are selected as they are, then a line for each change, until Ctrl-C', async () => {
  for (const name of ['node-a', 'node-c']) await report(name, null);
  await run('unassign --all');
  const { code, stdout, stderr } = await watched('nodes -w -l pool', [
    { until: /^node-c /m, act: () => run('assign node-b --configmap dkc-system/web --key kubelet') },
    { until: /^node-b +no-agent +dkc-system\/web:kubelet +-/m, act: () => client.create(nodes, { metadata: { name: 'extra', labels: { pool: 'x' } } }) }, // prettier-ignore
    { until: /^extra /m, act: () => client.delete(nodes, { name: 'extra' }) },
    { until: /^extra +deleted$/m, act: async () => {} },
  ]);
  assert.deepEqual([code, stderr], [130, 'dkc: interrupted\n']);
  const lines = stdout.trimEnd().split('\n').map((line) => line.split(/ +/)[0]); // prettier-ignore
  assert.deepEqual(lines, ['NODE', 'node-a', 'node-b', 'node-c', 'node-b', 'extra', 'extra']);
  const at = stdout.split('\n').map((line) => line.search(/(?<= )(?:STATE|no-agent)/));
  assert.equal(new Set(at.slice(0, 5)).size, 1, 'lines that come later stand under the same titles');
});

test('nodes begins again where the pages of its list expire, and shows each node once; where they always do, it fails', async () => {
  const api = localApi(realClock);
  for (let at = 0; at < 1_203; at++)
    api.hooks.storage.put('/nodes', `n${at}`, { apiVersion: 'v1', kind: 'Node', metadata: { name: `n${at}` } });
  const run = () => runCli(['nodes', '-o', 'name'], { connect: async () => localClient(api) });
  api.hooks.setFaults(parseFaults([{ verb: 'list', resource: 'nodes', status: 'gone', after: 1, count: 1 }]));
  const { code, stdout } = await run();
  assert.deepEqual([code, stdout.split('\n').length, new Set(stdout.split('\n')).size], [0, 1_204, 1_204]);
  api.hooks.setFaults(parseFaults([{ verb: 'list', resource: 'nodes', status: 'gone' }]));
  assert.match((await run()).stderr, /410/);
});

test('assign --wait that may not watch ends with 1 when its time is over, and says the last answer', async () => {
  const api = localApi(realClock, { faults: parseFaults([{ verb: 'watch', resource: 'nodes', status: 500 }]) });
  api.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } });
  let drawn = '';
  const stderr = { write: (text: string) => void (drawn += text), isTTY: true, columns: undefined };
  const { code } = await runCli(`assign node-a ${ASSIGN} --wait --timeout=1s`.split(' '), {
    connect: async () => localClient(api),
    stderr,
  });
  assert.equal(code, 1);
  assert.match(drawn, /timed out after 1s: node-a: .*\. Nothing newer was read for \d+s: .* 500 .*\n$/);
});

test('assign to many nodes says after Ctrl-C how many may be changed, and done again it does them', async () => {
  const fleet = localApi(realClock);
  for (let at = 0; at < 100; at++) fleet.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: `n${at}` } });
  const argv = `assign --all ${ASSIGN}`.split(' ');
  const cut = new AbortController();
  fleet.hooks.setFaults(parseFaults([{ verb: 'patch', resource: 'nodes', fault: 'hang', after: 3 }]));
  const changed = () => fleet.hooks.storage.list('/nodes').objects.filter(({ spec }) => JSON.stringify(spec ?? '').includes('web')).length;
  const running = runCli(argv, { connect: async () => localClient(fleet), signal: cut.signal });
  await eventually('three have had their answer', () => changed() >= 3);
  cut.abort(new Interrupted());
  const { code, stderr } = await running;
  assert.equal(code, 130);
  assert.match(stderr, /^dkc: note: at least 3 of 100 nodes were changed; .*\ndkc: interrupted\n$/);
  fleet.hooks.setFaults(parseFaults([{ verb: 'patch', resource: 'nodes', fault: 'drop' }]));
  const dropped = await runCli(argv, { connect: async () => localClient(fleet) });
  assert.equal(dropped.code, 3);
  assert.match(dropped.stderr, /^dkc: \d+ more nodes were not tried, since the API server no longer answers; .*\ndkc: Cannot .*\n$/m);
  fleet.hooks.setFaults([]);
  const again = await runCli([...argv, '-o', 'name'], { connect: async () => localClient(fleet) });
  assert.deepEqual([again.code, again.stdout.split('\n').length], [0, 101]);
});
