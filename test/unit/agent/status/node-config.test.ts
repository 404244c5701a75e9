import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, type NodeConfig, type NodeConfigFacts, nodeConfigPatch, wantedOfNodeConfig } from '../../../../agent/status/node-config.ts'; // prettier-ignore
import { type ConfigStatus, statusErrors } from '../../../../agent/status/node-config-state.ts';
import { source } from '../../../support/builders.ts';

const spec = { configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' } };
const facts: NodeConfigFacts = { agentVersion: '0.1.0', kubeletVersion: 'v1.36.3', health: { at: 'healthy' }, now: '2026-03-01T00:00:00Z' };
const local: ConfigStatus = { assigned: null, active: null, lastKnownGood: null, error: null };
const [old, web] = [source('web@1'), source('web@3')];
const onTrial: ConfigStatus = { assigned: web, active: web, lastKnownGood: old, error: null, trial: { endsAt: '2026-03-01T00:10:00Z' } };
const trusted: ConfigStatus = { assigned: web, active: web, lastKnownGood: web, error: null, trial: null };

const object = (rest: Partial<NodeConfig> = {}): NodeConfig => ({ metadata: { name: 'node-a', generation: 2 }, spec, ...rest });
/** As the server has it after the agent wrote this picture. */
const after = (picture: ConfigStatus, now = facts.now): NodeConfig => {
  const status = nodeConfigPatch(object(), picture, { ...facts, now })?.status;
  return object({ status: status as NonNullable<NodeConfig['status']> });
};
const conditionsOf = (seen: NodeConfig, picture: ConfigStatus, over: Partial<NodeConfigFacts> = {}): string =>
  ((nodeConfigPatch(seen, picture, { ...facts, ...over })?.status['conditions'] ?? []) as unknown as Condition[])
    .map(({ type, status, reason }) => `${type}=${status}(${reason})`)
    .join(' ');

// prettier-ignore
const conditions: { why: string; picture: ConfigStatus; spec?: object; health?: NodeConfigFacts['health']; is: string }[] = [
  { why: 'a config on trial', picture: onTrial, is: 'Synced=True(Assigned) Healthy=True(KubeletHealthy) Trusted=False(InTrial)' },
  { why: 'one that passed it', picture: trusted, is: 'Synced=True(Assigned) Healthy=True(KubeletHealthy) Trusted=True(TrialPassed)' },
  { why: 'the local config', picture: local, spec: {}, is: 'Synced=True(Local) Healthy=True(KubeletHealthy) Trusted=True(Local)' },
  { why: 'a spec that the agent has not followed yet', picture: local, is: 'Synced=False(Pending) Healthy=True(KubeletHealthy) Trusted=True(Local)' },
  { why: 'a fall back', picture: { ...onTrial, active: old, trial: null, error: statusErrors.failedTrial }, is: 'Synced=False(TrialFailed) Healthy=True(KubeletHealthy) Trusted=True(TrialPassed)' },
  { why: 'one that the kubelet uses from its next start on', picture: { ...trusted, active: old }, is: 'Synced=False(Pending) Healthy=True(KubeletHealthy) Trusted=False(NotProven)' },
  { why: 'a kubelet that nobody asked', picture: trusted, health: { at: 'unknown' }, is: 'Synced=True(Assigned) Healthy=Unknown(NotProbed) Trusted=True(TrialPassed)' },
  { why: 'a config that is refused', picture: { ...local, error: statusErrors.validate }, is: 'Synced=False(ValidationFailed) Healthy=True(KubeletHealthy) Trusted=True(Local)' },
  { why: 'a kubelet that fails', picture: trusted, health: { at: 'unhealthy', problem: 'no answer' }, is: 'Synced=True(Assigned) Healthy=False(KubeletUnhealthy) Trusted=True(TrialPassed)' },
  { why: 'a node that drifts in two ways', picture: { ...trusted, drift: [{ kind: 'NotUsed', detail: 'a', since: '' }, { kind: 'KubeletDiffers', detail: 'b', since: '' }] }, is: 'Synced=True(Assigned) Healthy=True(KubeletHealthy) Trusted=True(TrialPassed) Drifted=True(NotUsed)' },
];

for (const { why, picture, spec: says, health = facts.health, is } of conditions)
  test(`conditions of ${why}`, () => assert.equal(conditionsOf(object(says ? { spec: says } : {}), picture, { health }), is));

// prettier-ignore
const patches: { why: string; seen: NodeConfig; picture: ConfigStatus; facts?: Partial<NodeConfigFacts>; members: string[] }[] = [
  { why: 'nothing when it says so already, whatever the time', seen: after(trusted), picture: trusted, facts: { now: '2026-03-02T00:00:00Z' }, members: [] },
  { why: 'nothing while a new spec is not looked at: it speaks of the one before', seen: { ...after(trusted), metadata: { name: 'node-a', generation: 3 } }, picture: trusted, facts: { isBehind: true }, members: [] },
  { why: 'the generation once it is', seen: { ...after(trusted), metadata: { name: 'node-a', generation: 3 } }, picture: trusted, members: ['observedGeneration', 'conditions'] },
  { why: 'everything the first time', seen: object(), picture: onTrial, members: ['observedGeneration', 'assigned', 'active', 'lastKnownGood', 'trial', 'agentVersion', 'kubeletVersion', 'conditions'] },
  { why: 'what a trial that passed changes', seen: after(onTrial), picture: trusted, members: ['lastKnownGood', 'conditions', 'trial'] },
  { why: 'the version of another kubelet', seen: after(trusted), picture: trusted, facts: { kubeletVersion: 'v1.37.0' }, members: ['kubeletVersion'] },
];

for (const { why, seen, picture, facts: over = {}, members } of patches)
  test(`the status patch of a NodeConfig holds ${why}`, () =>
    assert.deepEqual(Object.keys(nodeConfigPatch(seen, picture, { ...facts, ...over })?.status ?? {}), members));

// prettier-ignore
const wanted: { why: string; spec: unknown; is: string }[] = [
  { why: 'no spec is local', spec: undefined, is: 'local' },
  { why: 'a ConfigMap is a source', spec, is: 'source' },
  { why: 'text is no ConfigMap', spec: { configMap: 'web' }, is: 'invalid' },
  { why: 'another namespace is not read', spec: { configMap: { ...spec.configMap, namespace: 'default' } }, is: 'forbidden' },
];

for (const { why, spec: says, is } of wanted)
  test(`NodeConfig.spec: ${why}`, () => {
    const got = wantedOfNodeConfig(says === undefined ? {} : { spec: says as object }, 'dkc-system');
    assert.equal(got.at, is);
    if (got.at === 'invalid') assert.match(got.problem, /^spec\.configMap[. ]/);
  });
