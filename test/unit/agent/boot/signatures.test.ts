import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { config, HandMadeNode, numbered } from './hand-made-store.ts';
import { filesOf } from '../../../support/builders.ts';
import { SshSigner } from '../../../support/ssh-signing.ts';

const LOAD = 'failed to load config, see Kubelet log for details';
const ci = new SshSigner();
const web = (maxPods: number): Record<string, string> => ({ kubelet: config(`maxPods: ${maxPods}`) });

async function has(node: HandMadeNode, n: number, role: 'assigned' | 'last-known-good', files: Record<string, string>, allow?: string) {
  const store = node.store();
  await store.initialize();
  await store.save({ ...numbered(n), files: filesOf(files), annotations: allow === undefined ? {} : { 'dkc.dev/allow': allow } });
  await store.setRecord(role, numbered(n));
}

test('boot goes back from what is not signed, or not with its annotation, to what is', async (t) => {
  const node = await HandMadeNode.make(t);
  node.options = { ...node.options, policy: join(node.dir, 'policy.yaml') };
  await node.write(join(node.dir, 'policy.yaml'), SshSigner.policy(ci));
  await has(node, 1, 'last-known-good', ci.signed(web(41)));
  await has(node, 2, 'assigned', web(42));
  const { used, error } = await node.boot();
  assert.deepEqual([used, error], ['last-known-good', LOAD]);
  assert.ok(node.log.some((line) => /kubelet\.sig of ConfigMap dkc-system\/config-2 is missing.*dkc sign/.test(line)));
  await has(node, 3, 'assigned', ci.signed(web(43)), 'port');
  assert.equal((await node.boot()).used, 'last-known-good', 'an annotation that was added later lets nothing through');
});
