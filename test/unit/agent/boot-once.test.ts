import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootOn } from '../../support/boot-on-disk.ts';
import { nodeOnDisk } from '../../support/node-on-disk.ts';

test('a single boot leaves word of what it chose, whatever an agent wrote before', async (t) => {
  const node = await nodeOnDisk(t);
  const trusted = await node.save('1');
  const assigned = await node.save('2', { files: { kubelet: 'kind: Nonsense' } });
  await node.trust(trusted);
  await node.assign(assigned);
  await node.runs('assigned', assigned);
  const outcome = await bootOn(node);
  const { active, effective } = await node.observe();
  assert.ok(active?.ok);
  const { used, source, error, effectiveSha256 } = active.record;
  assert.deepEqual([used, source, error], ['last-known-good', trusted, outcome.error]);
  assert.equal(effectiveSha256, effective.sha256);
});
