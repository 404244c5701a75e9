import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { config, HandMadeNode, numbered } from './hand-made-store.ts';
import { filesOf } from '../../../support/builders.ts';
import { SshSigner } from '../../../support/ssh-signing.ts';

const LOAD = 'failed to load config, see Kubelet log for details';
const [ci, next] = [new SshSigner(), new SshSigner('ecdsa-sha2-nistp256', 'next@example.com')];
const web = (maxPods: number): Record<string, string> => ({ kubelet: config(`maxPods: ${maxPods}`) });

/** A node that asks for signatures by `signers`; nobody on the network is asked. */
async function make(t: Parameters<typeof HandMadeNode.make>[0], ...signers: readonly SshSigner[]): Promise<HandMadeNode> {
  const node = await HandMadeNode.make(t);
  node.options = { ...node.options, policy: join(node.dir, 'policy.yaml') };
  await accept(node, ...signers);
  return node;
}

const accept = (node: HandMadeNode, ...signers: readonly SshSigner[]): Promise<void> =>
  node.write(join(node.dir, 'policy.yaml'), SshSigner.policy(...signers));

async function has(
  node: HandMadeNode,
  n: number,
  role: 'assigned' | 'last-known-good',
  files: Record<string, string>,
  allow = '',
): Promise<void> {
  const store = node.store();
  await store.initialize();
  await store.save({ ...numbered(n), files: filesOf(files), annotations: allow === '' ? {} : { 'dkc.dev/allow': allow } });
  await store.setRecord(role, numbered(n));
}

test('boot goes back from what is not signed, or not with its annotation, to what is', async (t) => {
  const node = await make(t, ci);
  await has(node, 1, 'last-known-good', ci.signed(web(41)));
  await has(node, 2, 'assigned', web(42));
  const { used, error } = await node.boot();
  assert.deepEqual([used, error], ['last-known-good', LOAD]);
  assert.ok(node.log.some((line) => /kubelet\.sig of ConfigMap dkc-system\/config-2 is missing.*dkc sign/.test(line)));
  await has(node, 3, 'assigned', ci.signed(web(43)), 'port');
  assert.equal((await node.boot()).used, 'last-known-good', 'an annotation that was added later lets nothing through');
});

test('a key that is taken away takes its configs with it; one that follows it in time does not', async (t) => {
  const node = await make(t, ci, next);
  await has(node, 1, 'last-known-good', ci.signed(web(41)));
  await has(node, 2, 'assigned', next.signed(web(42)));
  assert.equal((await node.boot()).used, 'assigned');
  await accept(node, next);
  assert.equal((await node.boot()).used, 'assigned', 'the new key is enough');
  await accept(node, new SshSigner());
  const { used, error } = await node.boot();
  assert.deepEqual([used, error], ['local', LOAD]);
  assert.match(await node.effective(), /maxPods: 110/);
});
