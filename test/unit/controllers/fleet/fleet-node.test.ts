import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';
import { assignedSource, fleetState, type FleetState, type FleetNode } from '../../../../controllers/fleet/fleet-node.ts';
import { fleetNode } from '../../../../controllers/fleet/read-fleet-node.ts';
import { rolloutsOn } from '../../../../controllers/rollout/drain/record.ts';

const source = (name: string, resourceVersion = '1') => ({ namespace: 'dkc-system', name, uid: `uid-${name}`, resourceVersion, kubeletConfigKey: 'kubelet' }); // prettier-ignore
const [old, web] = [source('old'), source('web')];
const spec = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
const base: FleetNode = { node: 'a', carrier: 'node', wanted: spec, reports: true, agent: { version: '0.1.0', trial: null }, assigned: web, active: web, lastKnownGood: web, error: null, ready: true, kubeletVersion: 'v1.30.0' }; // prettier-ignore
const { failedTrial, load, validate, download } = statusErrors;

const states: { is: FleetState; why: string; over: Partial<FleetNode> }[] = [
  { is: 'trusted', why: 'runs what is assigned and trusts it', over: {} },
  { is: 'trusted', why: 'is an old kubelet that needs no agent', over: { agent: null } },
  { is: 'trial', why: 'runs what is assigned and trusts another', over: { lastKnownGood: old } },
  { is: 'trial', why: 'trusts none but the local config', over: { lastKnownGood: null } },
  { is: 'pending', why: 'has not taken over what the spec says', over: { assigned: old, active: old } },
  { is: 'pending', why: 'restarts with it', over: { active: old } },
  { is: 'pending', why: 'has an agent that has not reported a config', over: { reports: false, assigned: null, active: null, lastKnownGood: null } }, // prettier-ignore
  { is: 'local', why: 'is assigned nothing, and says so', over: { wanted: null, assigned: null, active: null } },
  { is: 'local', why: 'is assigned nothing, and has an agent', over: { wanted: null, reports: false, assigned: null, active: null } },
  { is: 'no-agent', why: 'is assigned something, and nothing has reported', over: { reports: false, agent: null } },
  { is: 'refused', why: 'rejected an edit of the same ConfigMap', over: { error: validate } },
  { is: 'condemned', why: 'failed the trial', over: { active: old, lastKnownGood: old, error: failedTrial } },
  { is: 'fell-back', why: 'could not load it at boot', over: { active: old, error: load } },
  { is: 'fell-back', why: 'found it invalid at boot', over: { active: null, error: validate } },
  { is: 'error', why: 'cannot download it', over: { error: download } },
  { is: 'error', why: 'says what only another agent says', over: { error: 'of another agent' } },
];
for (const { is, why, over } of states) test(`a node is ${is} that ${why}`, () => assert.equal(fleetState({ ...base, ...over }), is));

test('ASSIGNED is what the spec says, with the version that the node reports for that', () => {
  assert.deepEqual(assignedSource(base), web);
  assert.deepEqual(assignedSource({ ...base, assigned: old }), { ...spec, uid: null, resourceVersion: null });
  assert.equal(assignedSource({ ...base, wanted: null }), null);
});

test('a Node of any other shape is read without an error', () => {
  for (const status of [undefined, { config: 'x' }, { config: { assigned: [], error: 7 } }, 7]) {
    const { wanted, assigned, active, lastKnownGood, error } = fleetNode({ metadata: { name: 'a' }, spec: { configSource: 'x' }, status });
    assert.deepEqual([wanted, assigned, active, lastKnownGood, error], [null, null, null, null, null]);
  }
  const status = { config: { error: 'x'.repeat(100_000) }, conditions: [null, 7, { type: 'Ready' }], nodeInfo: [] };
  const { error, ready, kubeletVersion, agent } = fleetNode({ metadata: { name: 'a', annotations: 'none' }, status } as never);
  assert.deepEqual([error?.length, ready, kubeletVersion, agent], [1_000, false, '', null]);
  const conditions = [null, { type: 'Drained', message: 7 }, { type: 'MaintenancePlanned', message: 'NodeConfigRollout web/u: so' }];
  assert.deepEqual(rolloutsOn({ metadata: { name: 'a' }, status: { conditions } } as never), [{ name: 'web', uid: 'u' }]);
});
