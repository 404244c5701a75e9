import assert from 'node:assert/strict';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { config, HandMadeNode, numbered } from './hand-made-store.ts';
import type { AgentOptions } from '../../../../agent/options.ts';
import { parseKubeletVersion } from '../../../../agent/config/config.ts';
import { filesOf } from '../../../support/builders.ts';

const VALIDATE = 'failed to validate config, see Kubelet log for details';

/** A node that is assigned a checkpoint with these files, downloaded by ours: with annotations. */
async function assigned(
  node: HandMadeNode,
  files: Readonly<Record<string, string>>,
  { annotations = {}, n = 1 }: { annotations?: Readonly<Record<string, string>>; n?: number } = {},
): Promise<void> {
  const source = numbered(n);
  const store = node.store();
  await store.initialize();
  await store.save({ ...source, files: filesOf(files), annotations });
  await store.setRecord('assigned', source);
}

const set = (node: HandMadeNode, over: Partial<AgentOptions>): void => void (node.options = { ...node.options, ...over });
const checkpointDir = (node: HandMadeNode, n = 1): string => node.path('checkpoints', `uid-${n}`, `rv-${n}`);

test('the effective file keeps the order of keys, what it does not know, and writes no defaults in', async (t) => {
  const node = await HandMadeNode.make(t);
  await assigned(node, { kubelet: 'maxPods: 41 # comment\nkind: KubeletConfiguration\nfromTheFuture: {b: 1, a: [x]}\napiVersion: kubelet.config.k8s.io/v1beta1\nport: 10250\n' }); // prettier-ignore
  assert.equal((await node.boot()).used, 'assigned');
  const keys = [...(await node.effective()).matchAll(/^(\w+):/gm)].map(([, key]) => key);
  assert.deepEqual(keys, ['maxPods', 'kind', 'fromTheFuture', 'apiVersion', 'port']);
});

test('relative paths in a ConfigMap mean its other keys', async (t) => {
  const node = await HandMadeNode.make(t);
  await assigned(node, { kubelet: config('authentication:', '  x509:', '    clientCAFile: ca.crt', 'tlsCertFile: /etc/kubelet.crt', "resolvConf: ''"), 'ca.crt': 'a certificate' }); // prettier-ignore
  await node.boot();
  const text = await node.effective();
  assert.match(text, new RegExp(`clientCAFile: ${join(checkpointDir(node), 'ca.crt')}\n`));
  assert.match(text, /tlsCertFile: \/etc\/kubelet.crt/);
  assert.match(text, /resolvConf: (''|"")/);
  assert.equal((await stat(join(checkpointDir(node), 'ca.crt'))).isFile(), true);
});

test('podLogsDir is a path from 1.30 on, and before that a field that the kubelet does not know', async (t) => {
  for (const [version, expected] of [
    ['1.30', /podLogsDir: \//],
    ['1.28', /podLogsDir: logs/],
  ] as const) {
    // prettier-ignore
    const node = await HandMadeNode.make(t);
    node.kubelet = { version: parseKubeletVersion(version), args: [] };
    await assigned(node, { kubelet: config('podLogsDir: logs') });
    await node.boot();
    assert.match(await node.effective(), expected);
  }
});

test('the bytes of the local config are kept as they are, comments and all', async (t) => {
  const node = await HandMadeNode.make(t);
  const text = `# ours\n${config('maxPods:   99', 'staticPodPath: /etc/kubernetes/manifests')}`;
  await node.write(node.local, text);
  await node.boot();
  assert.equal(await node.effective(), text);
});

test('a local config with relative paths is rendered, against its own directory', async (t) => {
  const node = await HandMadeNode.make(t);
  await node.write(node.local, config('staticPodPath: manifests', 'maxPods: 99'));
  await node.boot();
  assert.match(await node.effective(), new RegExp(`staticPodPath: ${join(node.dir, 'local', 'manifests')}\n`));
});

test('replace takes nothing of the local config, overlay lays the ConfigMap over it', async (t) => {
  const node = await HandMadeNode.make(t);
  await node.write(node.local, config('maxPods: 99', 'staticPodPath: manifests', 'evictionHard: {memory.available: 100Mi, nodefs.available: 10%}', 'clusterDNS: [10.0.0.10]', 'registryBurst: 7')); // prettier-ignore
  await assigned(node, { kubelet: config('maxPods: 41', 'evictionHard: {memory.available: 200Mi}', 'clusterDNS: [10.0.0.11]', 'registryBurst: null', 'tlsCertFile: server.crt') }); // prettier-ignore

  await node.boot();
  const replaced = await node.effective();
  assert.match(replaced, /maxPods: 41/);
  assert.doesNotMatch(replaced, /staticPodPath|nodefs/);

  set(node, { merge: 'overlay' });
  await node.boot();
  const laid = await node.effective();
  assert.match(laid, /maxPods: 41/);
  assert.match(
    laid,
    new RegExp(`staticPodPath: ${join(node.dir, 'local', 'manifests')}\n`),
    'the local side resolves against its own directory',
  );
  assert.match(laid, new RegExp(`tlsCertFile: ${join(checkpointDir(node), 'server.crt')}\n`), 'the ConfigMap against its checkpoint');
  assert.match(laid, /memory\.available: "?200Mi/);
  assert.match(laid, /nodefs\.available: "?10%/, 'maps merge');
  assert.doesNotMatch(laid, /10\.0\.0\.10"?\n|registryBurst/, 'lists replace, null removes');
});

test('overlay over a missing local config is overlay over an empty one; over a broken one it is not tried', async (t) => {
  const node = await HandMadeNode.make(t);
  set(node, { merge: 'overlay' });
  await assigned(node, { kubelet: config('maxPods: 41') });
  await rm(node.local);
  assert.equal((await node.boot()).used, 'assigned');
  assert.match(await node.effective(), /maxPods: 41/);
  await node.write(node.local, 'a: [');
  const outcome = await node.boot();
  assert.equal(outcome.used, 'local');
  assert.match(await node.effective(), /maxPods: 41/, 'the file that was there stays');
});

test('flags of the kubelet win: a field that one shadows is said in the log, a value that the flag mends is no error', async (t) => {
  const node = await HandMadeNode.make(t);
  node.kubelet = { ...node.kubelet, args: ['--max-pods=50'] };
  await assigned(node, { kubelet: config('maxPods: 41', 'podsPerCore: 2') });
  await node.boot();
  assert.match(await node.effective(), /maxPods: 41/, 'the file keeps what the ConfigMap says: the flag is the kubelet’s own');
  assert.ok(
    node.log.some((line) => /maxPods.*--max-pods/.test(line)),
    node.log.join('\n'),
  );
  await assigned(node, { kubelet: config('maxPods: -1') }, { n: 2 });
  assert.equal((await node.boot()).used, 'assigned', 'the kubelet would see 50');
});

test('flags that do not parse are an internal failure, as upstream calls it', async (t) => {
  const node = await HandMadeNode.make(t);
  node.kubelet = { ...node.kubelet, args: ['--max-pods=many'] };
  await assigned(node, { kubelet: config('maxPods: 41') });
  const outcome = await node.boot();
  assert.deepEqual([outcome.used, outcome.error], ['local', 'internal failure, see Kubelet log for details']);
});

// prettier-ignore
const policies: { why: string; local?: string; files: Record<string, string>; allow?: string; policy?: string; merge?: 'overlay'; used: 'assigned' | 'local'; says?: RegExp[] }[] = [
  { why: 'lets safe fields through', files: { kubelet: config('maxPods: 41', 'imageGCHighThresholdPercent: 90') }, local: config('maxPods: 110'), used: 'assigned' },
  { why: 'refuses a ConfigMap that would reset authentication, with the remedy', local: config('maxPods: 110', 'authentication: {anonymous: {enabled: true}}'), files: { kubelet: config('maxPods: 41') }, used: 'local', says: [/authentication\.anonymous\.enabled/, /dangerous/, /overlay/, /dkc render/, /dkc\.dev\/allow/] },
  { why: 'does not refuse the same as an overlay', local: config('maxPods: 110', 'authentication: {anonymous: {enabled: true}}'), files: { kubelet: config('maxPods: 41') }, merge: 'overlay', used: 'assigned' },
  { why: 'lets through what the annotation names', local: config('authentication: {anonymous: {enabled: true}}'), files: { kubelet: config('maxPods: 41') }, allow: 'authentication.anonymous.enabled', used: 'assigned' },
  { why: 'does not let through more than the annotation names', local: config('authentication: {anonymous: {enabled: true}}', 'port: 10251'), files: { kubelet: config('maxPods: 41') }, allow: 'authentication.anonymous.enabled', used: 'local', says: [/port/] },
  { why: 'heeds no annotation where the node says overrides: false', local: config('authentication: {anonymous: {enabled: true}}'), files: { kubelet: config('maxPods: 41') }, allow: 'authentication.anonymous.enabled', policy: 'overrides: false', used: 'local', says: [/ignores annotations/] },
  { why: 'lets through what the node allows', local: config('authentication: {anonymous: {enabled: true}}'), files: { kubelet: config('maxPods: 41') }, policy: 'fields: {authentication: allow}', used: 'assigned' },
  { why: 'refuses a safe field that the node denies', files: { kubelet: config('maxPods: 41') }, policy: 'fields: {maxPods: deny}', used: 'local', says: [/maxPods/, /denies it/] },
];

for (const row of policies)
  test(`the field policy ${row.why}`, async (t) => {
    const node = await HandMadeNode.make(t);
    await node.write(node.local, row.local ?? config('maxPods: 110'));
    const file = join(node.dir, 'policy.yaml');
    await node.write(file, `apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n${row.policy ?? ''}\n`);
    set(node, { policy: file, merge: row.merge ?? 'replace' });
    await assigned(node, row.files, { annotations: row.allow === undefined ? {} : { 'dkc.dev/allow': row.allow } });
    const outcome = await node.boot();
    assert.deepEqual([outcome.used, outcome.error], [row.used, row.used === 'local' ? VALIDATE : null], node.log.join('\n'));
    for (const pattern of row.says ?? [])
      assert.ok(
        node.log.some((line) => pattern.test(line)),
        `${String(pattern)} in ${node.log.join('\n')}`,
      );
  });

test('--policy=none refuses nothing', async (t) => {
  const node = await HandMadeNode.make(t);
  await node.write(node.local, config('authentication: {anonymous: {enabled: true}}', 'port: 10251'));
  await assigned(node, { kubelet: config('maxPods: 41') });
  assert.equal((await node.boot()).used, 'assigned');
});

test('a policy file that cannot be read does not take from a node what it runs', async (t) => {
  const node = await HandMadeNode.make(t);
  await node.write(node.local, config('authentication: {anonymous: {enabled: true}}'));
  set(node, { policy: join(node.dir, 'policy.yaml') });
  await node.write(join(node.dir, 'policy.yaml'), 'kind: [');
  await assigned(node, { kubelet: config('maxPods: 41') });
  assert.equal((await node.boot()).used, 'assigned');
  assert.ok(node.log.some((line) => line.includes('policy file cannot be used')));
});

test('without a local config policy compares with the file that is there', async (t) => {
  const node = await HandMadeNode.make(t);
  await node.write(join(node.dir, 'policy.yaml'), 'apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n');
  set(node, { policy: join(node.dir, 'policy.yaml') });
  await rm(node.local);
  await node.write(node.options.effectiveConfig, config('authentication: {anonymous: {enabled: true}}'));
  await assigned(node, { kubelet: config('maxPods: 41') });
  assert.equal((await node.boot()).error, VALIDATE);
  await assigned(node, { kubelet: config('maxPods: 41', 'authentication: {anonymous: {enabled: true}}') }, { n: 2 });
  assert.equal((await node.boot()).used, 'assigned');
});

test('the same content in another checkpoint directory leaves the effective file as it is, though its paths differ', async (t) => {
  const node = await HandMadeNode.make(t);
  const files = { kubelet: config('authentication: {x509: {clientCAFile: ca.crt}}'), 'ca.crt': 'a certificate' };
  await assigned(node, files);
  await node.boot();
  const before = await node.effective();
  await assigned(node, files, { n: 2, annotations: { 'dkc.dev/note': 'touched' } });
  const outcome = await node.boot();
  assert.deepEqual(outcome.source, numbered(2));
  assert.equal(outcome.effective.changed, false);
  assert.equal(await node.effective(), before);
  // Only as long as what it points at is whole.
  await node.write(join(checkpointDir(node), 'ca.crt'), 'another certificate');
  const third = await node.boot();
  assert.equal(third.effective.changed, true);
  assert.match(await node.effective(), new RegExp(join(checkpointDir(node, 2), 'ca.crt')));
});

test('other content with the same siblings is another file', async (t) => {
  const node = await HandMadeNode.make(t);
  await assigned(node, { kubelet: config('maxPods: 41') });
  await node.boot();
  await assigned(node, { kubelet: config('maxPods: 42') }, { n: 2 });
  assert.equal((await node.boot()).effective.changed, true);
  assert.match(await node.effective(), /maxPods: 42/);
});

test('no value of a config reaches the log', async (t) => {
  const node = await HandMadeNode.make(t);
  const secret = 'hunter2-do-not-print';
  const header = (value: string) => config('staticPodURL: http://x/', `staticPodURLHeader: {Authorization: [${value}]}`, 'maxPods: -1', `clusterDomain: ${value}`, `cpuManagerPolicy: ${value}`); // prettier-ignore
  for (const text of [header(secret), config(`maxPods: ${secret}`), `${secret}: [`, config(`port: ${secret}`)]) {
    await assigned(node, { kubelet: text });
    await node.boot();
  }
  for (const line of node.log) assert.ok(!line.includes(secret), line);
});

test('boot leaves nothing behind but what the layout names', async (t) => {
  const node = await HandMadeNode.make(t);
  await assigned(node, { kubelet: config('maxPods: 41') });
  await node.boot();
  const names = (await readdir(node.root)).toSorted();
  assert.ok(
    names.every((name) => ['kubelet.yaml', 'store', 'store.lock', 'agent.lock'].includes(name)),
    names.join(' '),
  );
  assert.equal((await stat(node.options.effectiveConfig)).mode & 0o777, 0o600);
});
