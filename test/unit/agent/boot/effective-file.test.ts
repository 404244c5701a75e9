import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { config, HandMadeNode, numbered } from './hand-made-store.ts';
import { filesOf } from '../../../support/builders.ts';

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

const checkpointDir = (node: HandMadeNode): string => node.path('checkpoints', 'uid-1', 'rv-1');

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
