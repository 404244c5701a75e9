import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { UsageError } from '../../../../cli/failure.ts';
import { nodeNames } from '../../../../cli/fleet/node-names.ts';
import { stateText } from '../../../../cli/fleet/node-view.ts';
import { assignedSource, fleetState, type FleetState, type FleetNode } from '../../../../controllers/fleet/fleet-node.ts';
import { AGENT_ANNOTATION, fleetNode } from '../../../../controllers/fleet/read-fleet-node.ts';

const source = (name: string, resourceVersion = '1') => ({ namespace: 'dkc-system', name, uid: `uid-${name}`, resourceVersion, kubeletConfigKey: 'kubelet' }); // prettier-ignore
const [old, web, newer] = [source('old'), source('web'), source('web', '2')];
const spec = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const base: FleetNode = {
  node: 'a',
  carrier: 'node',
  wanted: spec,
  reports: true,
  agent: { version: '0.1.0', trial: null },
  assigned: web,
  active: web,
  lastKnownGood: web,
  error: null,
  ready: true,
  kubeletVersion: 'v1.30.0',
};
const { failedTrial, rolledBack, load, validate, download, internal, syncInternal, noSource } = statusErrors;

const states: { is: FleetState; why: string; over: Partial<FleetNode> }[] = [
  { is: 'trusted', why: 'runs what is assigned and trusts it', over: {} },
  { is: 'trusted', why: 'is an old kubelet that needs no agent', over: { agent: null } },
  { is: 'trial', why: 'runs what is assigned and trusts another', over: { lastKnownGood: old } },
  { is: 'trial', why: 'runs another version than the one it trusts', over: { assigned: newer, active: newer } },
  { is: 'trial', why: 'trusts none but the local config', over: { lastKnownGood: null } },
  { is: 'pending', why: 'has not taken over what the spec says', over: { assigned: old, active: old } },
  { is: 'pending', why: 'restarts with it', over: { active: old } },
  { is: 'pending', why: 'has an agent that has not reported a config', over: { reports: false, assigned: null, active: null, lastKnownGood: null } }, // prettier-ignore
  { is: 'pending', why: 'is to go back to local', over: { wanted: null } },
  { is: 'local', why: 'is assigned nothing, and says so', over: { wanted: null, assigned: null, active: null } },
  { is: 'local', why: 'is assigned nothing, and has an agent', over: { wanted: null, reports: false, assigned: null, active: null } },
  { is: 'no-agent', why: 'is assigned nothing, and nothing has reported', over: { wanted: null, reports: false, agent: null } },
  { is: 'no-agent', why: 'is assigned something, and nothing has reported', over: { reports: false, agent: null } },
  { is: 'refused', why: 'rejected another ConfigMap', over: { assigned: old, active: old, error: validate } },
  { is: 'refused', why: 'rejected an edit of the same ConfigMap', over: { error: validate } },
  { is: 'refused', why: 'could not decode it', over: { assigned: null, active: null, error: load } },
  { is: 'condemned', why: 'failed the trial', over: { active: old, lastKnownGood: old, error: failedTrial } },
  { is: 'condemned', why: 'was rolled back by an admin', over: { active: null, lastKnownGood: null, error: rolledBack } },
  { is: 'fell-back', why: 'could not load it at boot', over: { active: old, error: load } },
  { is: 'fell-back', why: 'found it invalid at boot', over: { active: null, error: validate } },
  ...[download, internal, syncInternal, noSource, 'of another agent'].map((error) => ({ is: 'error' as const, why: `says ${error}`, over: { error } })), // prettier-ignore
];
for (const { is, why, over } of states) test(`a node is ${is} that ${why}`, () => assert.equal(fleetState({ ...base, ...over }), is));

const onTrial = (trial: FleetNode['agent']) => ({ ...base, lastKnownGood: old, agent: trial });
const now = Date.parse('2026-03-01T00:00:00Z');
const texts = [
  { says: 'trial (8m12s left)', agent: { version: '', trial: { endsAtMs: now + 492_000 } } },
  { says: 'trial', agent: { version: '', trial: { endsAtMs: now - 5 } } },
  { says: 'trial', agent: { version: '', trial: { endsAtMs: null } } },
  { says: 'trial', agent: null },
];
for (const { says, agent } of texts)
  test(`a trial with ${JSON.stringify(agent)} reads ${says}`, () => assert.equal(stateText(onTrial(agent), now), says));

test('ASSIGNED is what the spec says, with the version that the node reports for that', () => {
  assert.deepEqual(assignedSource(base), web);
  assert.deepEqual(assignedSource({ ...base, assigned: old }), { ...spec, uid: null, resourceVersion: null });
  assert.equal(assignedSource({ ...base, wanted: null }), null);
});

const annotations = [
  { annotation: '{"version":"0.1.0","trial":{"endsAt":"2026-03-01T00:10:00Z"}}', agent: { version: '0.1.0', trial: { endsAtMs: now + 600_000 } } },
  { annotation: '{"version":"0.1.0","trial":null}', agent: { version: '0.1.0', trial: null } },
  { annotation: '{"version":7,"trial":{"endsAt":"soon"}}', agent: { version: '', trial: { endsAtMs: null } } },
  { annotation: '{', agent: { version: '', trial: null } },
  { annotation: '[]', agent: { version: '', trial: null } },
  { annotation: '['.repeat(200_000), agent: { version: '', trial: null } },
  { annotation: '', agent: null },
  { annotation: undefined, agent: null },
]; // prettier-ignore
for (const { annotation, agent } of annotations)
  test(`the annotation ${annotation?.slice(0, 30)} reads as ${JSON.stringify(agent)}`, () => {
    const metadata = { name: 'a', ...(annotation === undefined ? {} : { annotations: { [AGENT_ANNOTATION]: annotation } }) };
    assert.deepEqual(fleetNode({ metadata }).agent, agent);
  });

test('a Node of any other shape is read without an error', () => {
  const none = { wanted: null, assigned: null, active: null, lastKnownGood: null, error: null };
  for (const status of [undefined, null, {}, { config: {} }, { config: 'x' }, { config: { assigned: [], error: 7 } }, 7]) {
    const { wanted, assigned, active, lastKnownGood, error } = fleetNode({ metadata: { name: 'a' }, spec: { configSource: 'x' }, status });
    assert.deepEqual({ wanted, assigned, active, lastKnownGood, error }, none);
  }
  const long = 'x'.repeat(100_000);
  const odd = {
    metadata: { name: 'a', annotations: 'none' },
    status: { config: { error: long }, conditions: [null, 7, { type: 'Ready' }], nodeInfo: [] },
  };
  const { error, ready, kubeletVersion, agent } = fleetNode(odd as never); // prettier-ignore
  assert.deepEqual([error?.length, ready, kubeletVersion, agent], [1_000, false, '', null]);
});

const good = [
  { words: ['a', 'b'], names: ['a', 'b'] },
  { words: ['node/a', 'nodes/b,no/c'], names: ['a', 'b', 'c'] },
  { words: ['a,b', 'b', 'a'], names: ['a', 'b'] },
  { words: ['ip-10-0-0-1.eu.compute.internal'], names: ['ip-10-0-0-1.eu.compute.internal'] },
];
for (const { words, names } of good)
  test(`nodes ${words.join(' ')} are ${names.join(' ')}`, () => assert.deepEqual(nodeNames('assign', words), names));

const bad = [
  { word: 'pool/worker-1', says: 'invalid node name "pool/worker-1": must not contain "/" (use "worker-1")' },
  { word: 'a,,b', says: 'must not be empty' },
  { word: 'Worker', says: 'must be lower case letters' },
  { word: '../x', says: 'must not contain "/"' },
  { word: 'a%2fb', says: 'must be lower case letters' },
  { word: 'a\u001b[31m', says: 'must be lower case letters' },
  { word: 'a'.repeat(254), says: 'must not be longer than 253 characters' },
];
for (const { word, says } of bad)
  test(`no node is called ${JSON.stringify(word.slice(0, 20))}`, () =>
    assert.throws(() => nodeNames('assign', [word]), (error: Error) => error instanceof UsageError && error.message.includes(says))); // prettier-ignore
