import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { startApiServer, type ApiServer } from '../../../../apiserver/server.ts';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { refusedEvent } from '../../../../agent/events/event.ts';
import { configMaps, coreEvents, nodes } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { Interrupted } from '../../../../cli/failure.ts';
import { parseFaults } from '../../../../apiserver/faults/fault.ts';
import { runCli, type Ran } from '../../../support/cli-context.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import type { Log } from '../../../../base/log.ts';
import type { Client } from '../../../../kube/client/client.ts';

const parts = { clock: realClock, random: seededRandom(1), log: silentLog };
const web = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const servers: ApiServer[] = [];
let client: Client;

async function serve(): Promise<ApiServer> {
  const server = await startApiServer({ ...parts, tls: false, dynamicKubeletConfig: true });
  servers.push(server);
  return server;
}

const clientOf = ({ url, token }: ApiServer): Client => createClient({ origin: 'test', server: url, token });

before(async () => {
  client = clientOf(await serve());
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
    /^dkc: note: agents read ConfigMaps only in dkc-system unless started with --configmap-namespace; this one is in default\n$/,
  );
});

test('what is to be noted of a ConfigMap does not stand in the way of an error', async () => {
  const { code, stderr } = await run('assign node-x --configmap default/later --key kubelet');
  assert.equal(code, 3);
  assert.match(stderr, /^dkc: Node "node-x" not found.*\n$/);
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
    stderr.split('\n').map((line) => /Node "(node-\w)" not found/.exec(line)?.[1]),
    ['node-y', 'node-x', undefined],
  );
});

for (const [argv, says] of [
  ['assign node-a --configmap web --key kubelet', /--configmap must be NAMESPACE\/NAME/],
  ['assign node-a --configmap a/b/c --key kubelet', /--configmap must be NAMESPACE\/NAME/],
  ['assign node-a --configmap dkc-system/WEB --key kubelet', /name: Invalid value/],
  ['assign node-a --configmap dkc-system/web --key ../x', /kubeletConfigKey: Invalid value/],
  ['assign node-a --key kubelet', /--configmap is missing/],
  ['assign --configmap dkc-system/web --key kubelet', /NODE is missing: name nodes, or give -l SELECTOR or --all/],
  ['assign node-a --all --configmap dkc-system/web --key kubelet', /cannot be combined/],
  ['assign node-a -l pool=web --configmap dkc-system/web --key kubelet', /cannot be combined/],
  ['assign node-a --configmap dkc-system/web --key kubelet --wait=soon', /--wait must be one of trusted, active/],
  ['assign node-a --configmap dkc-system/web --key kubelet --wait --dry-run', /--dry-run and --wait cannot be combined/],
  ['nodes node-a -l pool=web', /a name and a selector cannot be combined/],
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
  assert.match(table, /^node-a +trusted +dkc-system\/web:kubelet@7 +dkc-system\/web:kubelet@7 +dkc-system\/web:kubelet@7 +-$/m);
  assert.match(table, /^node-b +no-agent +dkc-system\/web:kubelet +- +- +-$/m);
  assert.match(table, /^node-c +no-agent +local +- +- +-$/m);
  const json = JSON.parse((await run('nodes -l pool=web -o json')).stdout) as unknown[];
  assert.deepEqual(json, [
    { node: 'node-a', state: 'trusted', assigned: source, active: source, lastKnownGood: source, error: null, carrier: 'node' },
    {
      node: 'node-b',
      state: 'no-agent',
      assigned: { ...source, uid: null, resourceVersion: null },
      active: null,
      lastKnownGood: null,
      error: null,
      carrier: 'node',
    },
  ]);
  assert.deepEqual((JSON.parse((await run('nodes node-c -o json')).stdout) as unknown[]).length, 1);
});

test('assign --wait goes on through the trial, and ends with 0 when the node trusts it', async () => {
  await report('node-c', null);
  await run('unassign node-c');
  const waiting = run('assign node-c --configmap dkc-system/web --key kubelet --wait --timeout=100s');
  while (((await config('node-c')).spec?.configSource ?? null) === null) await turn();
  const { uid, resourceVersion } = (await client.get(configMaps, { namespace: 'dkc-system', name: 'web' })).metadata;
  const source = { namespace: 'dkc-system', name: 'web', uid, resourceVersion, kubeletConfigKey: 'kubelet' };
  await report('node-c', { assigned: { configMap: source }, active: { configMap: source } });
  assert.match((await run('nodes node-c')).stdout, /^node-c +trial +/m);
  assert.deepEqual((await run('nodes node-c --check')).stderr, 'dkc: 1/1 nodes are not trusted or local: node-c (trial)\n');
  await report('node-c', { lastKnownGood: { configMap: source } });
  const { code, stderr } = await waiting;
  assert.equal(code, 0);
  assert.match(stderr, /^node-c: trusted after \d+s\n$/);
  assert.equal((await run('nodes node-c --check')).code, 0);
});

test('assign --wait ends with 1 and the error when the node refuses', async () => {
  await report('node-c', null);
  await run('unassign node-c');
  const waiting = run('assign node-c --configmap dkc-system/web --key kubelet --wait --timeout=100s');
  while (((await config('node-c')).spec?.configSource ?? null) === null) await turn();
  const facts = { nodeName: 'node-c', nowMs: Date.now(), nanos: 1 };
  const about = { ...web, uid: 'u', resourceVersion: '7' };
  // Of another ConfigMap, and of this one under keys that it was assigned with later.
  const others = [
    { ...about, name: 'other' },
    { ...about, kubeletConfigKey: 'kubelet.2' },
    { ...about, kubeletConfigKey: 'bin' },
  ];
  for (const [at, source] of [about, ...others].entries()) {
    const field = source === about ? 'authentication.x509' : 'maxPods';
    const refused = refusedEvent(source, [{ field, rule: 'policy', message: `${field} differs` }], {
      ...facts,
      nowMs: facts.nowMs + 2000 * at,
    });
    await client.create(coreEvents, refused, { namespace: 'default' });
  }
  await report('node-c', { error: 'failed to validate config, see Kubelet log for details' });
  const { code, stderr } = await waiting;
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^dkc: node-c refused dkc-system\/web:kubelet@\d+ after \d+s: authentication\.x509 differs \[policy\]\. It still runs local\n$/,
  );
});

test('assign --wait ends with 1 when the time is over', async () => {
  // It is over once the node was seen: the time that a first look takes is the machine's.
  const seen = Promise.withResolvers<void>();
  let drawn = '';
  let isOver = false;
  const write = (text: string): void => {
    drawn += text;
    if (!drawn.includes('node-b: no agent has reported yet')) return;
    isOver = true;
    seen.resolve();
  };
  const clock = {
    ...realClock,
    // The hour is over in the turn in which the node was seen.
    monotonic: () => (isOver ? 3_600_000 : 0),
    sleep: () => seen.promise,
  };
  const argv = 'assign node-b --configmap dkc-system/web --key kubelet --wait --timeout=1h'.split(' ');
  const over = { connect: async () => clientOf(servers[0] ?? assert.fail()), clock, stderr: { write, isTTY: true, columns: undefined } };
  assert.equal((await runCli(argv, over)).code, 1);
  assert.match(drawn, /dkc: timed out after 1h: node-b: no agent has reported yet; is dkc-agent running there\?/);
});

test('assign --wait that took too long names no refusal of another config', async () => {
  await run('unassign node-c');
  await report('node-c', { error: 'failed to sync: failed to download config, see Kubelet log for details' });
  const { code, stderr } = await run('assign node-c --configmap dkc-system/gone --key kubelet --wait --timeout=1s');
  assert.equal(code, 1);
  assert.match(stderr, /dkc: timed out after 1s: node-c: still reports its previous error; see `dkc status` on the node\n$/);
});

test('nodes shows those that it found before the error about the others', async () => {
  const { code, stdout, stderr } = await run('nodes node-a nope node-b');
  assert.equal(code, 3);
  assert.deepEqual(stdout.split('\n').map((line) => line.split(' ')[0]), ['NODE', 'node-a', 'node-b', '']); // prettier-ignore
  assert.equal(stderr, 'dkc: Node "nope" not found; `dkc nodes` lists them\n');
});

test('assign takes a selector, all nodes, and names as kubectl writes them', async () => {
  await run('unassign --all');
  const assigned = async (argv: string) =>
    (JSON.parse((await run(`assign ${argv} --configmap dkc-system/web --key kubelet -o json`)).stdout) as { node: string }[]).map(
      ({ node }) => node,
    );
  assert.deepEqual(await assigned('-l pool=web --dry-run'), ['node-a', 'node-b']);
  assert.equal((await config('node-a')).spec?.configSource ?? null, null, 'a dry run writes nothing');
  assert.deepEqual(await assigned('-l pool=web'), ['node-a', 'node-b']);
  assert.deepEqual(await assigned('node/node-c node-a,node-b'), ['node-c', 'node-a', 'node-b']);
  assert.deepEqual(await assigned('--all'), ['node-a', 'node-b', 'node-c']);
  const { code, stderr } = await run('assign -l pool=none --configmap dkc-system/web --key kubelet');
  assert.deepEqual([code, stderr], [3, 'dkc: Cannot find nodes: no node matches pool=none\n']);
});

test('unassign --wait ends once the node runs its local config', async () => {
  const source = { ...web, uid: 'u', resourceVersion: '7' };
  await run('assign node-c --configmap dkc-system/web --key kubelet');
  await report('node-c', { assigned: { configMap: source }, active: { configMap: source } });
  const waiting = run('unassign node-c --wait');
  while (((await config('node-c')).spec?.configSource ?? null) !== null) await turn();
  await report('node-c', { assigned: null });
  await report('node-c', null);
  const { code, stderr } = await waiting;
  assert.equal(code, 0);
  assert.match(stderr, /^node-c: local after \d+s\n$/);
});

/** `dkc nodes -w` until stdout matches, then Ctrl-C. */
async function watched(argv: string, steps: readonly { until: RegExp; act: () => Promise<unknown> }[]): Promise<Ran> {
  const control = new AbortController();
  let stdout = '';
  let heard = (): void => {};
  const write = (text: string): void => {
    stdout += text;
    heard();
  };
  const ran = runCli(argv.split(' '), { connect: async () => clientOf(servers[0] ?? assert.fail()), signal: control.signal, stdout: { write, isTTY: false, columns: undefined } }); // prettier-ignore
  for (const { until, act } of steps) {
    while (!until.test(stdout)) await new Promise<void>((resolve) => (heard = resolve));
    await act();
  }
  control.abort(new Interrupted());
  return { ...(await ran), stdout };
}

for (const [what, argv] of [
  ['each', 'nodes -w node-a node-b node-c'],
  ['all', 'nodes -w'],
  ['selected', 'nodes -w -l pool'],
] as const)
  // prettier-ignore
  test(`nodes -w shows ${what} as they are, then a line for each change, until Ctrl-C`, async () => {
    await report('node-a', null);
    await run('unassign --all');
    const name = `extra-${what}`;
    const { code, stdout, stderr } = await watched(argv, [
      { until: /^node-c /m, act: () => run('assign node-b --configmap dkc-system/web --key kubelet') },
      { until: /^node-b +no-agent +dkc-system\/web:kubelet +-/m, act: () => client.create(nodes, { metadata: { name, labels: { pool: 'x' } } }) },
      ...(what === 'each'
        ? []
        : [
            { until: new RegExp(`^${name} `, 'm'), act: () => client.delete(nodes, { name }) },
            { until: new RegExp(`^${name} +deleted$`, 'm'), act: async () => {} },
          ]),
    ]);
    if (what === 'each') await client.delete(nodes, { name });
    assert.deepEqual([code, stderr], [130, 'dkc: interrupted\n']);
    const lines = stdout.trimEnd().split('\n').map((line) => line.split(/ +/)[0]); // prettier-ignore
    assert.deepEqual(lines, ['NODE', 'node-a', 'node-b', 'node-c', 'node-b', ...(what === 'each' ? [] : [name, name])]);
    const at = stdout.split('\n').map((line) => line.search(/(?<= )(?:STATE|no-agent)/));
    assert.equal(new Set(at.slice(0, 5)).size, 1, 'lines that come later stand under the same titles');
  });

test('-o name, jsonpath and custom-columns of nodes, without a title line too', async () => {
  assert.equal((await run('nodes -o name')).stdout, 'node/node-a\nnode/node-b\nnode/node-c\n');
  assert.equal((await run('nodes -o jsonpath={range[*]}{.node}')).code, 2);
  const { stdout } = await runCli(['nodes', '-o', 'jsonpath={range [*]}{.node}={.state}{"\\n"}{end}'], { connect: async () => clientOf(servers[0] ?? assert.fail()) }); // prettier-ignore
  assert.equal(stdout, 'node-a=no-agent\nnode-b=no-agent\nnode-c=no-agent\n');
  assert.equal((await run('nodes -o custom-columns=N:.node --no-headers')).stdout, 'node-a\nnode-b\nnode-c\n');
  // Cells that are narrower than their titles, and a template that is tried on no rows at all.
  assert.equal((await run('nodes -o custom-columns=NAME-OF-NODE:.node,S:.state --no-headers')).stdout, 'node-a   no-agent\nnode-b   no-agent\nnode-c   no-agent\n'); // prettier-ignore
  assert.match((await run('nodes --no-headers')).stdout, /^node-a   no-agent   local +-   -   -\n/);
});

test('nodes begins again where the pages of its list expire, and shows each node once; where they always do, it fails', async () => {
  const api = localApi(realClock);
  for (let at = 0; at < 1_203; at++)
    api.hooks.storage.put('/nodes', `n${at}`, { apiVersion: 'v1', kind: 'Node', metadata: { name: `n${at}` } });
  const expiring = (count: number) =>
    api.hooks.setFaults(parseFaults([{ verb: 'list', resource: 'nodes', status: 'gone', after: 1, count }]));
  const run = () => runCli(['nodes', '-o', 'name'], { connect: async () => localClient(api) });
  expiring(1);
  const { code, stdout } = await run();
  assert.deepEqual([code, stdout.split('\n').length, new Set(stdout.split('\n')).size], [0, 1_204, 1_204]);
  api.hooks.setFaults(parseFaults([{ verb: 'list', resource: 'nodes', status: 'gone' }]));
  assert.match((await run()).stderr, /410/);
});

test('more than a page of nodes: each once, in order, in the time that reading them takes', async () => {
  const many = await startApiServer({ ...parts, tls: false, dynamicKubeletConfig: true });
  servers.push(many);
  const admin = clientOf(many);
  const names = Array.from({ length: 1_203 }, (_, n) => `node-${String(n).padStart(4, '0')}`);
  for (const name of names) many.hooks.storage.put('/nodes', name, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  const requests: unknown[] = [];
  const listEach: Client['listEach'] = (kind, query, each, options) => {
    requests.push(query);
    return admin.listEach(kind, query, each, options);
  };
  const raw: Client['raw'] = (...call) => admin.raw(...call);
  const counting = Object.assign(Object.create(admin) as Client, { listEach, raw, close: () => admin.close() });
  const { stdout } = await runCli(['nodes', '--no-headers', '-o', 'name'], { connect: async () => counting });
  assert.deepEqual(stdout.trimEnd().split('\n'), names.map((name) => `node/${name}`)); // prettier-ignore
  assert.equal(requests.length, 3);
});

test('assign --wait of many nodes takes no state from before its own write for that of somebody else', async () => {
  const api = localApi(realClock);
  for (let at = 0; at < 25; at++) api.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: `n${at}` } });
  const run = (argv: string): Promise<Ran> => runCli(argv.split(' '), { connect: async () => localClient(api) });
  assert.equal((await run('assign --all --configmap dkc-system/web --key kubelet')).code, 0);
  // As from a replica whose watch cache is behind: what it has at hand still has the assignments.
  api.hooks.setFaults(parseFaults([{ verb: 'list', resource: 'nodes', fault: 'stale', versions: 25 }]));
  const { code, stderr } = await run('unassign --all --wait --timeout=1m');
  assert.deepEqual([code, stderr.match(/: local after /g)?.length], [0, 25], stderr);
});

for (const { argv, fault, exit, logs } of [
  { argv: 'assign node-a --configmap dkc-system/web --key kubelet --wait', fault: 403, exit: 3, logs: /^/ },
  { argv: 'assign node-a --configmap dkc-system/web --key kubelet --wait --timeout=1s', fault: 500, exit: 1, logs: /failed, retrying/ },
  { argv: 'nodes node-a -w', fault: 403, exit: 3, logs: /^/ },
  { argv: 'nodes node-a -w', fault: 'drop', exit: 130, logs: /"warn: cannot reach the API server, retrying"/ },
])
  // prettier-ignore
  test(`${argv} says what keeps it from watching: ${fault}`, async () => {
    const api = localApi(realClock, { faults: parseFaults([{ verb: 'watch', resource: 'nodes', status: fault }]) });
    api.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } });
    const recorded = recordedLog();
    const ends = new AbortController();
    const atLast = realClock.after(10_000, () => ends.abort(new Interrupted()));
    const warn: Log['warn'] = (text, fields) => {
      recorded.log.warn(text, fields);
      if (exit === 130) ends.abort(new Interrupted());
    };
    const log: Log = { ...recorded.log, warn, with: () => log };
    const { code, stderr } = await runCli(argv.split(' '), { connect: async () => localClient(api), log, signal: ends.signal });
    atLast();
    assert.equal(code, exit);
    assert.match(JSON.stringify(recorded), logs);
    if (exit === 1)
      assert.match(
        stderr,
        /timed out after 1s: node-a: .*\. Nothing newer was read for \d+s: .* 500 .*\n$/,
      );
    if (exit === 3) {
      assert.match(stderr, /dkc: Cannot watch nodes: the verbs list and watch on nodes are needed \(Cannot GET .* 403 Forbidden: .*\)\n$/);
      assert.doesNotMatch(JSON.stringify(recorded), /retrying/);
    }
  });

for (const { why, fault, exit, says } of [
  {
    why: 'a server that no longer answers',
    fault: 'drop',
    exit: 3,
    says: /^dkc: [56]\d more nodes were not tried, since the API server no longer answers; .*\ndkc: Cannot .*\n$/m,
  },
  { why: 'Ctrl-C', fault: 'hang', exit: 130, says: /^dkc: note: at least 3 of 100 nodes were changed; .*\ndkc: interrupted\n$/ },
])
  // prettier-ignore
  test(`assign to many nodes says after ${why} how many are left, and done again it does them`, async () => {
    const api = localApi(realClock);
    for (let at = 0; at < 100; at++) api.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: `n${at}` } });
    const ends = new AbortController();
    let patches = 0;
    const connect = async (): Promise<Client> => {
      const client = localClient(api);
      const patch: Client['patch'] = (...call) => {
        // Three have had their answer, and eight wait for it.
        if (fault === 'hang' && ++patches === 11) queueMicrotask(() => ends.abort(new Interrupted()));
        return client.patch(...call);
      };
      const [raw, listEach] = [client.raw.bind(client), client.listEach.bind(client)];
      return Object.assign(Object.create(client) as Client, { patch, raw, listEach, close: () => client.close(), get: client.get.bind(client) });
    };
    const argv = 'assign --all --configmap dkc-system/web --key kubelet'.split(' ');
    api.hooks.setFaults(parseFaults([{ verb: 'patch', resource: 'nodes', fault, after: 3 }]));
    const { code, stderr } = await runCli(argv, { connect, signal: ends.signal });
    assert.equal(code, exit, stderr);
    assert.match(stderr, says);
    api.hooks.setFaults([]);
    const again = await runCli([...argv, '-o', 'name'], { connect });
    assert.deepEqual([again.code, again.stdout.split('\n').length], [0, 101]);
  });
