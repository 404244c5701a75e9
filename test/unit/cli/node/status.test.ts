import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServer } from 'node:http';
import { rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { memoryLocks } from '../../../support/memory-locks.ts';
import { assignedAndTrusted, nodeOnDisk, type NodeOnDisk } from '../../../support/node-on-disk.ts';
import { cliContext } from '../../../support/cli-context.ts';
import { age, ago, size, span } from '../../../../cli/node/spoken.ts';
import { LockError } from '../../../../base/lock.ts';
import { nodeFlags } from '../../../../cli/agent/flags.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import type { Source } from '../../../../agent/checkpoint/source.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { Resource } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';

test('status on a node on trial reads as an admin needs it', async (t) => {
  const node = await assignedAndTrusted(t);
  const { trusted, assigned } = node;
  const { kubeletConfigKey } = assigned;
  const assignedAt = new Date(node.now()).toISOString();
  await node.store.setTrial({
    source: assigned,
    kubeletConfigKey,
    contentSha256: 'x',
    assignedAt,
    healthyMs: 222_000,
    exits: 0,
    exitsOffset: 0,
    bootId: 'b',
  });
  await node.condemn(trusted, { reason: 'old sin', evidence: ['line one'] });
  node.later(300_000);
  const { stdout } = await node.dkc('status');
  const expected = `Node:            node-a
State:           assigned config, on trial
Running:         dkc-system/web:kubelet@2 (assigned)
Since:           2026-03-01T00:02:00.000Z (5m ago)
Assigned:        same as running
Last known good: dkc-system/web:kubelet@1
Error:           none
Trial:           healthy for 3m42s of 10m, assigned 5m ago
Agent:           not running: systemctl status dkc-agent
Kubelet:         not checked: kubeletHealthz is empty
Effective file:  ${node.paths.effective} (sha256 SUM)
Assignment by:   node (the API server keeps spec.configSource)

Condemned:
  dkc-system/web:kubelet@1: by agent, 5m ago: old sin
    line one

Next: The agent is not running, so the trial does not end, and a config that fails is not rolled back. Start it: systemctl start dkc-agent; if it is masked, before that: systemctl unmask dkc-agent
`;
  assert.equal(stdout.replace(/sha256 [0-9a-f]{12}/, 'sha256 SUM'), expected);
});

test('status after a refusal names the refused config and every reason, and exits with 1', async (t) => {
  const node = await nodeOnDisk(t);
  const running = await node.save('1');
  const refused = await node.save('2', { name: 'typo' });
  await node.trust(running);
  await node.assign(running);
  await node.runs('assigned', running, { error: statusErrors.validate });
  const findings = [
    { field: 'maxPods', rule: 'not-negative', message: 'maxPods must be 0 or more' },
    { field: 'cgroupDriver', rule: 'policy', message: 'differs from the local config' },
  ];
  const content = { kubeletConfigKey: 'kubelet', contentSha256: 'x' };
  const at = new Date(node.now()).toISOString();
  await node.store.setRefused({ source: refused, ...content, at, error: statusErrors.validate, findings, more: 3 });
  node.later(240_000);
  const { code, stdout, stderr } = await node.dkc('status');
  assert.equal(code, 1);
  assert.equal(stderr, 'dkc: the config that the API server assigns is refused on this node; dkc-system/typo:kubelet@2 is refused\n');
  assert.match(stdout, /^State: +new config rejected, still running the previous config$/m);
  assert.match(stdout, /^Error: +failed to validate config \(see: journalctl -u dkc-agent\)$/m);
  const block = `
Refused:
  dkc-system/typo:kubelet@2: 4m ago: failed to validate config (see: journalctl -u dkc-agent)
    maxPods must be 0 or more [not-negative]
    cgroupDriver: differs from the local config [policy]
    and 3 more: dkc status -o wide

Next: Fix the ConfigMap, or allow single fields with the annotation dkc.dev/allow on it; dkc validate shows the same findings beforehand
`;
  assert.ok(stdout.endsWith(block), stdout);
  const json = JSON.parse((await node.dkc('status', '-o', 'json')).stdout) as Record<string, unknown>;
  assert.deepEqual(json['refused'], { source: refused, findings, at, error: statusErrors.validate, more: 3 });
  assert.equal(json['error'], statusErrors.validate, "scripts get upstream's own words");
});

type Make = (node: NodeOnDisk, a: Source, b: Source) => Promise<unknown>;
const fellBack: Make = async (node, a, b) => {
  await node.condemn(b);
  await node.trust(a);
  await node.runs('last-known-good', a, { error: statusErrors.failedTrial });
};
const { validate: error, download } = statusErrors;
const notices = [{ about: 'local-config', text: 'it does not decode' }] as const;
const exits: [why: string, code: number, state: string, says: RegExp, make: Make][] = [
  ['all is well', 0, 'trusted', /^$/, async () => {}],
  ['a config is on trial', 0, 'running', /^$/, (node, a) => node.trust(a)],
  [
    'the node fell back from a condemned config',
    1,
    'condemned',
    /^dkc: this node fell back: the assigned config is condemned\n$/,
    fellBack,
  ],
  [
    'the node fell back for another reason',
    1,
    'fell-back',
    /fell back: the assigned config cannot be used/,
    (node, a) => node.runs('last-known-good', a, { error }),
  ],
  ['the store is damaged', 1, 'trusted', /^dkc: the store is damaged\n$/, (node, a) => writeFile(node.paths.file(a, 'kubelet'), 'torn')],
  ['there is no local config', 1, 'trusted', /^dkc: the local config .*config.yaml is missing\n$/, (node) => rm(node.localConfig)],
  [
    'the agent says that the local config is broken',
    1,
    'trusted',
    /local config cannot be used/,
    (node, _, b) => node.runs('assigned', b, { notices }),
  ],
  ['the ConfigMap cannot be had', 0, 'error', /^$/, (node, _, b) => node.runs('assigned', b, { error: download })],
];
for (const [why, code, state, says, make] of exits) {
  test(`dkc status exits with ${code} when ${why}, and has one word for it in json`, async (t) => {
    const node = await nodeOnDisk(t);
    const [a, b] = [await node.save('1'), await node.save('2')];
    await node.trust(b);
    await node.assign(b);
    await node.runs('assigned', b);
    await make(node, a, b);
    const ran = await node.dkc('status', '-o', 'json');
    const json = JSON.parse(ran.stdout) as { state: string; since: string; next: string };
    assert.deepEqual([ran.code, json.state], [code, state], ran.stderr);
    assert.equal(json.since, '2026-03-01T00:02:00.000Z');
    assert.notEqual(json.next, '');
    assert.match(ran.stderr, says);
  });
}

test('status says in what the node drifts, by the agent while that runs and else by a look at the file', async (t) => {
  const node = await nodeOnDisk(t, { kubeletUnit: 'k3s-agent.service' });
  const a = await node.save('1');
  await node.trust(a);
  await node.assign(a);
  const drift = [{ kind: 'NotUsed', detail: 'the running kubelet was started without --config', since: '2026-03-01T00:00:00Z' }] as const;
  await node.runs('assigned', a, { drift });
  const { code, stdout } = await node.dkc('status');
  assert.equal(code, 0);
  assert.match(stdout, /^Drifted:\n {2}NotUsed, \d+\w+ ago: the running kubelet was started without --config$/m);
  assert.match(stdout, /^Next: The kubelet is not started on the effective file\..* systemctl restart k3s-agent\.service$/m);
  await rm(node.paths.effective);
  const shown = JSON.parse((await node.dkc('status', '-o', 'json')).stdout) as { drift: { kind: string; since: string | null }[] };
  assert.deepEqual(shown.drift.map(({ kind, since }) => [kind, since]), [['EffectiveFileChanged', null], ['NotUsed', drift[0].since]]); // prettier-ignore
});

test('status says in red that there is no fallback of last resort', async (t) => {
  const node = await nodeOnDisk(t);
  await rm(node.localConfig);
  const { stdout } = await node.dkcIn({ stdout: { write: (text) => void (seen += text), isTTY: true, columns: 200 } }, 'status');
  assert.equal(stdout, '');
  assert.match(seen, /Local config: +\u001b\[31m.*config.yaml: missing: there is no last fallback/);
});
let seen = '';

test('status says whether agent and kubelet live, or that it cannot tell, and what the kubelet answers', async (t) => {
  const kubelet = createServer((_, answer) => void answer.writeHead(healthy ? 200 : 500).end());
  let healthy = true;
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
  t.after(() => kubelet.close());
  const url = `http://127.0.0.1:${(kubelet.address() as AddressInfo).port}/healthz`;
  const node = await nodeOnDisk(t, { kubeletHealthz: url });
  const locks = memoryLocks();
  await locks.take(node.paths.agentLock, 0);
  await writeFile(node.paths.agentLock, '');
  const asked = async () => {
    const { stdout } = await node.dkcIn({ locks }, 'status', '-o', 'json');
    const { agent, kubelet } = JSON.parse(stdout) as Record<'agent' | 'kubelet', unknown>;
    return [agent, kubelet];
  };
  assert.deepEqual(await asked(), [{ alive: true }, { healthy: true }]);
  healthy = false;
  assert.deepEqual(await asked(), [{ alive: true }, { healthy: false }]);
  const { stdout } = await node.dkcIn({ locks }, 'status');
  assert.match(stdout, /^Agent: +running$/m);
  assert.match(stdout, /^Kubelet: +not healthy: http:.* answered 500$/m);
  assert.match((await node.dkc('status')).stdout, /^Agent: +not running: systemctl status dkc-agent$/m);
  const denied = new LockError(node.paths.agentLock, 'it cannot be opened', { cause: new Error('EACCES') });
  assert.match(
    (await node.dkcIn({ locks: { take: () => Promise.reject(denied) } }, 'status')).stdout,
    /^Agent: +unknown \(.*it cannot be opened.*\)$/m,
  );
});

test('status stays readable with very many condemnations and damaged checkpoints', async (t) => {
  const node = await nodeOnDisk(t);
  const source = await node.save('1');
  const record = await node.condemn(source);
  const records = Array.from({ length: 3000 }, (_, at) => ({ ...record, resourceVersion: String(at), contentSha256: String(at) }));
  await node.store.setCondemned(records);
  const { stdout } = await node.dkc('status');
  assert.ok(stdout.split('\n').length < 50, `${stdout.split('\n').length} lines`);
  const kept = (await node.store.condemned()).length;
  assert.ok(kept > 100);
  assert.ok(stdout.includes(`and ${kept - 10} older: dkc status -o wide\n  dkc-system/web:kubelet@2990: `), stdout);
  const json = JSON.parse((await node.dkc('status', '-o', 'json')).stdout) as { condemned: unknown[] };
  assert.equal(json.condemned.length, kept);
});

test('status on a fresh node says that nothing is assigned', async (t) => {
  const { dkc } = await nodeOnDisk(t);
  const { stdout } = await dkc('status');
  assert.match(stdout, /State: +local config, nothing assigned/);
  assert.match(stdout, /Since: +unknown \(derived from records\)/);
  assert.match(stdout, /Effective file: .*\(missing\)/);
});

const noSuch = new ApiError({ method: 'GET', host: 'h', path: '/apis/dkc.dev' }, { code: 404, reason: 'NotFound', message: 'not found' });
const client = (node: object, nodeConfig?: object): Client => {
  const refuse = () => Promise.reject(new Error('not in this test'));
  return {
    get: async ({ resource }: Resource) => (resource === 'nodes' ? node : (nodeConfig ?? (await Promise.reject(noSuch)))),
    close: async () => {},
    list: refuse,
    create: refuse,
    replace: refuse,
    patch: refuse,
    delete: refuse,
    raw: refuse,
    watch: refuse,
  } as unknown as Client;
};

test('status asks the API server only with --kubeconfig, and stands without its answer', async (t) => {
  const node = await nodeOnDisk(t);
  const assigned = await node.save('2');
  await node.assign(assigned);
  await node.runs('assigned', assigned);
  const config = { assigned: { configMap: assigned }, active: { configMap: { ...assigned, resourceVersion: '1' } }, error: 'failed' };
  const connect = async () => client({ metadata: { name: 'node-a' }, status: { config } });

  assert.ok(!(await node.dkcIn({ connect }, 'status', '-o', 'json')).stdout.includes('"api"'));
  const asked = JSON.parse((await node.dkcIn({ connect }, 'status', '--kubeconfig=/x', '-o', 'json')).stdout) as { api: unknown };
  assert.deepEqual(asked.api, { assigned, active: { ...assigned, resourceVersion: '1' }, lastKnownGood: null, error: 'failed' });
  const { stdout } = await node.dkcIn({ connect }, 'status', '--kubeconfig=/x');
  assert.match(
    stdout,
    /Reported by the API server:\n {2}assigned: same\n {2}active: dkc-system\/web:kubelet@1\n {2}lastKnownGood: same\n {2}error: failed\n/,
  );

  const ours = { metadata: { name: 'node-a' }, status: { error: 'of the NodeConfig' } };
  const both = { connect: async () => client({ metadata: { name: 'node-a' }, status: { config } }, ours) };
  assert.match((await node.dkcIn(both, 'status', '--kubeconfig=/x')).stdout, /\n {2}error: of the NodeConfig\n/);

  const away = await node.dkcIn({ connect: (query) => cliContext().context.connect(query) }, 'status', '--kubeconfig=/x');
  assert.equal(away.code, 0);
  assert.match(away.stdout, /API server: request failed: no network in this test/);
});

test('ages, spans and sizes are said in one or two units', () => {
  const now = Date.parse('2026-03-10T00:00:00Z');
  const ages = ['10T00:00:00', '11T00:00:00', '09T23:58:30', '09T23:00:00', '09T00:00:00', '01T00:00:00'].map((at) => `2026-03-${at}Z`);
  assert.deepEqual(
    ages.map((at) => age(at, now)),
    ['now', 'now', '90s', '60m', '24h', '9d'],
  );
  assert.deepEqual([age(null, now), age('x', now), ago(ages[0], now), ago(ages[3], now)], ['?', '?', 'just now', '60m ago']);
  assert.deepEqual([0, 999, 61_000, 600_000, 3_660_000, 7_200_000].map(span), ['0s', '0s', '1m1s', '10m', '1h1m', '2h']);
  assert.deepEqual([0, 1023, 1024, 1_500_000].map(size), ['0 B', '1023 B', '1.0 KiB', '1.4 MiB']);
});

test('help lists the flags of the command apart from those of the node, and of these only what it heeds', async (t) => {
  const { dkc } = await nodeOnDisk(t);
  const sections = async (...argv: string[]): Promise<[string[], string[]]> => {
    const { stdout } = await dkc(...argv, '--help');
    const [, own = '', node = ''] = /\nFLAGS\n([\s\S]*?)\n\nNODE FLAGS \(dkc help node-flags\)\n([\s\S]*?)\n\n/.exec(stdout) ?? [];
    const names = (text: string) => [...text.matchAll(/^ +(?:-\w, )?--([a-z-]+)/gm)].map(([, name = '']) => name);
    return [names(own), names(node)];
  };
  const [own, node] = await sections('history');
  assert.ok(own.includes('lines') && !own.includes('dynamic-config-dir'), own.join());
  assert.deepEqual(node, ['dynamic-config-dir', 'agent-config']);
  assert.deepEqual((await sections('diff'))[1], ['kubelet-version', 'agent-config']);
  assert.ok((await sections('rollback'))[1].includes('policy'));
  assert.match((await dkc('status', '--help')).stdout, /--kubeconfig=FILE +also show what the API server reports/);
  // What help does not list works all the same: a script may give all of them to every command.
  assert.equal((await dkc('history', '--policy=none', '--merge=overlay', '--node-name=x')).code, 0);
  const topic = (await dkc('help', 'node-flags')).stdout;
  for (const { name } of nodeFlags) assert.ok(topic.includes(`--${name}`), name);
});

test('status -w prints the status again whenever it is another one, until Ctrl-C', async (t) => {
  const node = await nodeOnDisk(t);
  const [one, two] = [await node.save('1'), await node.save('2')];
  await node.assign(one);
  await node.trust(one);
  await node.runs('assigned', one);
  const later = async (): Promise<void> => node.later(60_000);
  const changes = [later, () => node.assign(two), later, () => node.runs('assigned', two)];
  const { code, stdout, stderr } = await node.watched(['status', '-w'], changes);
  assert.deepEqual([code, stderr], [130, 'dkc: interrupted\n']);
  assert.deepEqual(
    stdout.match(/^State: .*/gm)?.map((line) => line.replace(/State: +/, '')),
    ['assigned config, trusted', 'pending: waiting for the agent', 'assigned config, not yet trusted'],
  );
  const json = await node.watched(['status', '-w', '-o', 'json'], [later, () => node.assign(one)]);
  assert.deepEqual(json.stdout.trimEnd().split('\n').map((line) => (JSON.parse(line) as { state: string }).state), ['running', 'pending']); // prettier-ignore
  assert.equal((await node.dkc('status', '-w', '-o', 'yaml')).code, 2);
});
