import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configStatus } from '../../../agent/status/node-status.ts';
import { nodeConfigs } from '../../../agent/status/node-config.ts';
import { specSourceProblems } from '../../../agent/checkpoint/source.ts';
import { rulesOf } from '../../../controllers/rollout/rules.ts';
import { rollouts } from '../../../controllers/rollout/types.ts';
import { definitions } from '../../../deploy/manifests.ts';
import { goodSpec, rolloutRows } from '../../support/contracts/rollout-rows.ts';
import { source } from '../../support/builders.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const spec = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const clock = new FakeClock();

// prettier-ignore
const cases: { why: string; configMap: object | undefined; refused?: RegExp }[] = [
  { why: 'a whole one is taken', configMap: spec },
  { why: 'dots in a name and a key are fine', configMap: { ...spec, name: 'web.v2', kubeletConfigKey: '.kubelet..yaml' } },
  { why: 'a namespace must be set', configMap: { ...spec, namespace: undefined }, refused: /spec\.configMap\.namespace: Required value/ },
  { why: 'a key must be set', configMap: { ...spec, kubeletConfigKey: undefined }, refused: /spec\.configMap\.kubeletConfigKey: Required value/ },
  { why: 'a namespace has an end', configMap: { ...spec, namespace: 'a'.repeat(64) }, refused: /spec\.configMap\.namespace/ },
  { why: 'a name must not leave its path', configMap: { ...spec, name: '../nodes' }, refused: /spec\.configMap\.name/ },
  { why: 'a key is no directory', configMap: { ...spec, kubeletConfigKey: '..' }, refused: /spec\.configMap\.kubeletConfigKey/ },
  { why: 'a key must not be our manifest', configMap: { ...spec, kubeletConfigKey: '..manifest.json' }, refused: /spec\.configMap\.kubeletConfigKey/ },
  { why: 'a uid must not be set in spec', configMap: { ...spec, uid: 'u' }, refused: /spec\.configMap\.uid/ },
  { why: 'a resourceVersion must not be set in spec', configMap: { ...spec, resourceVersion: '1' }, refused: /spec\.configMap\.resourceVersion/ },
];

const api = localApi(clock, { definitions: definitions({ cel: false }) });
const client = localClient(api, { clock });
for (const { why, configMap, refused } of cases)
  test(`a NodeConfig: ${why}`, async () => {
    const made = client.create(nodeConfigs, { metadata: { name: 'node-a' }, spec: configMap ? { configMap } : {} }, { dryRun: true });
    if (refused) await assert.rejects(made, refused);
    else await made;
    const { namespace = '', name = '', kubeletConfigKey = '', ...forbidden } = (configMap ?? spec) as Partial<typeof spec>;
    const problems = specSourceProblems({ namespace, name, kubeletConfigKey });
    assert.equal(problems.length > 0 || Object.keys(forbidden).length > 0, refused !== undefined, 'as the agent itself has it');
  });

test('a NodeConfigRollout that the definition takes can be used by the controller, and one that it refuses could not', async () => {
  for (const { spec: more, refused, isCel } of rolloutRows) {
    const rollout = { metadata: { name: 'web' }, spec: { ...goodSpec, ...more } };
    const why = JSON.stringify(more);
    const made = client.create(rollouts, rollout, { dryRun: true }).then(() => 'taken', String);
    if (refused === undefined || isCel === true) assert.equal(await made, 'taken', why);
    else assert.ok((await made).includes(refused.replaceAll(/\[\d+\]/g, '')), `${why}: ${await made}`);
    // What a key may hold the API server of the ConfigMap says, and the one of the NodeConfig.
    const isUsable = rulesOf(rollout).problems.length === 0 && specSourceProblems(rollout.spec.configMap).length === 0;
    assert.equal(isUsable, refused === undefined, why);
  }
});

test('its status holds what the agent reports, and leaves metadata alone', async () => {
  await client.create(nodeConfigs, { metadata: { name: 'node-b' }, spec: { configMap: spec } });
  const web = source('web@3');
  const status = configStatus({ assigned: web, active: web, lastKnownGood: null, error: 'x' });
  const said = { ...status, observedGeneration: 1, agentVersion: '0.1.0' };
  await client.patch(nodeConfigs, { name: 'node-b' }, { status: said }, { type: 'merge', subresource: 'status' });
  assert.deepEqual((await client.get(nodeConfigs, { name: 'node-b' }))['status'], said);
});

test('the variant in CEL is a definition that servers without CEL take as well', () => {
  const other = localApi(clock, { definitions: definitions({ cel: true }) });
  assert.match(JSON.stringify(other.hooks.storage.list('apiextensions.k8s.io/customresourcedefinitions').objects), /FieldValueForbidden/);
});
