import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_FINDINGS } from '../../../../agent/config/config.ts';
import { MAX_FINDING_TEXT, parseRefused, refusedRecord, refusedText } from '../../../../agent/store/records.ts';
import { content, source } from '../../../support/builders.ts';
import { configYaml, SimulatedNode } from '../../../support/simulated-node.ts';
import { configMaps, type KubeObject, nodes } from '../../../../kube/api/object.ts';

const put = (node: SimulatedNode, fields: Record<string, number>, labels: Record<string, string> = {}): KubeObject =>
  node.api.put(configMaps, { metadata: { namespace: 'dkc-system', name: 'web', labels }, data: { kubelet: configYaml(fields) } });
const assign = (node: SimulatedNode, configMap: object | null): KubeObject =>
  node.api.put(nodes, { metadata: { name: node.name }, spec: configMap ? { configSource: { configMap } } : {} });
const web = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };

test('what preflight refuses is on disk until it is accepted or no longer wanted, over restarts of the agent', async () => {
  const node = new SimulatedNode();
  put(node, { maxPods: -1 });
  assign(node, web);
  await node.start();
  await node.clock.advance(60_000);
  const first = await node.store().refused();
  assert.ok(first);
  assert.equal(first.source.name, 'web');
  assert.equal(first.error, 'failed to validate config, see Kubelet log for details');
  assert.deepEqual(first.findings, [{ field: 'maxPods', rule: 'not-negative', message: 'maxPods must be 0 or more' }]);
  assert.equal(first.more, 0);

  // Touched, and asked again by another agent: the same refusal, since the same moment, under its newest name.
  put(node, { maxPods: -1 }, { touched: 'x' });
  await node.clock.advance(60_000);
  await node.stop();
  await node.start();
  await node.clock.advance(60_000);
  const again = await node.store().refused();
  assert.equal(again?.at, first.at);
  assert.notEqual(again?.source.resourceVersion, first.source.resourceVersion);

  put(node, { maxPods: 50 });
  await node.clock.advance(60_000);
  assert.equal(await node.store().refused(), undefined);

  put(node, { maxPods: -2 });
  await node.clock.advance(60_000);
  assert.equal((await node.store().refused())?.source.name, 'web');
  assign(node, null);
  await node.clock.advance(60_000);
  assert.equal(await node.store().refused(), undefined);
  await node.end();
});

test('a refusal for very many reasons stays a small file, and says how many there were', () => {
  const findings = Array.from({ length: 5000 }, (_, at) => ({
    field: `${'x'.repeat(100_000)}${at}`,
    rule: 'r',
    message: 'm'.repeat(9000),
  }));
  const record = refusedRecord({ source: source('web@1'), ...content('A'), at: 't', error: 'e' }, findings);
  assert.equal(record.findings.length, MAX_FINDINGS);
  assert.equal(record.more, 5000 - MAX_FINDINGS);
  assert.ok(record.findings.every(({ field, message }) => field.length <= MAX_FINDING_TEXT && message.length <= MAX_FINDING_TEXT));
  const bytes = new TextEncoder().encode(refusedText(record));
  assert.ok(bytes.length < 512 * 1024);
  assert.deepEqual(parseRefused(bytes), { ok: true, value: record });
});
