import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { config, HandMadeNode, numbered } from './hand-made-store.ts';
import type { AgentOptions } from '../../../../agent/options.ts';
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

test('a ConfigMap that would reset authentication is refused with the remedy in the log', async (t) => {
  const node = await HandMadeNode.make(t);
  await node.write(node.local, config('authentication: {anonymous: {enabled: true}}'));
  const policy = join(node.dir, 'policy.yaml');
  await node.write(policy, 'apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n');
  set(node, { policy });
  await assigned(node, { kubelet: config('maxPods: 41') });
  assert.equal((await node.boot()).error, VALIDATE);
  const log = node.log.join('\n');
  for (const says of [/authentication\.anonymous\.enabled/, /dangerous/, /overlay/, /dkc render/, /dkc\.dev\/allow/])
    assert.match(log, says);
  await assigned(node, { kubelet: config('maxPods: 41') }, { n: 2, annotations: { 'dkc.dev/allow': 'authentication.anonymous.enabled' } });
  assert.equal((await node.boot()).used, 'assigned', 'the annotation of the checkpoint counts');
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
  await assigned(node, { ...files, 'ca.crt': 'another certificate' }, { n: 3 });
  assert.equal((await node.boot()).effective.changed, true);
  await assigned(node, files);
  await node.boot();
  await assigned(node, files, { n: 2 });
  // Only as long as what it points at is whole.
  await node.write(join(checkpointDir(node), 'ca.crt'), 'another certificate');
  const third = await node.boot();
  assert.equal(third.effective.changed, true);
  assert.match(await node.effective(), new RegExp(join(checkpointDir(node, 2), 'ca.crt')));
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
