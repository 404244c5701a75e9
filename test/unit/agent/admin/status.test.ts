import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminFacts, condemnation, source, type Given } from '../../../support/admin-facts.ts';
import { kubeletYaml } from '../../../support/node-on-disk.ts';
import { type AdminFacts, viewActive } from '../../../../agent/admin/facts.ts';
import { compareSides, type Side, viewCheckpoints } from '../../../../agent/admin/checkpoints.ts';
import { faultOf, nextStep, agentStateOf, viewStatus, type AgentState, type Vitals } from '../../../../agent/admin/status.ts';
import { parseKubeletVersion } from '../../../../agent/config/config.ts';
import { statusErrors } from '../../../../agent/status/node-config-state.ts';

const byAdmin = condemnation('9', { by: 'admin' });
const vitals: Vitals = { agent: { alive: true, detail: 'running' }, kubelet: { healthy: null, detail: 'not asked' } };
const { load, internal, failedTrial, rolledBack, noSource, download, syncInternal, validate } = statusErrors;

const both: Given = { assigned: '9', lkg: '7', stored: '9 7' };
const none: Given = { lkg: '7', stored: '7' };
// prettier-ignore
const workedOut: [why: string, given: Given, used: string, says: string | null][] = [
  ['nothing is assigned', none, 'local', null],
  ['the assigned is whole', both, 'assigned', null],
  ['the assigned is damaged', { ...both, stored: '9! 7' }, 'last-known-good', load],
  ['the trial condemned it', { ...both, condemned: [condemnation('9')] }, 'last-known-good', failedTrial],
  ['an admin condemned it', { ...both, condemned: [byAdmin] }, 'last-known-good', rolledBack],
  ['the assigned is not known', { ...none, assigned: '!' }, 'last-known-good', internal],
];
for (const [why, given, used, says] of workedOut)
  test(`without word of the agent, what is active when ${why} is worked out as ${used}`, () => {
    const active = viewActive(adminFacts(given));
    assert.deepEqual([active.used, active.error, active.from], [used, says, 'records']);
  });

const standings: (Given & { is: AgentState })[] = [
  { is: 'local', active: 'local' },
  { is: 'pending', active: 'assigned 9' },
  { is: 'trusted', assigned: '9', lkg: '9', stored: '9', active: 'assigned 9' },
  { is: 'running', assigned: '9', lkg: '7', stored: '9 7', active: 'assigned 9' },
  { is: 'pending', assigned: '9', stored: '9', active: 'local' },
  { is: 'fallen-back', assigned: '9', stored: '9!', active: 'local', error: load },
  { is: 'condemned', assigned: '9', lkg: '7', stored: '9 7', active: 'last-known-good 7', condemned: [byAdmin] },
  { is: 'pending', assigned: '9', lkg: '7', stored: '9 7', active: 'assigned 9', condemned: [byAdmin] },
  { is: 'unknown', assigned: '!', active: 'local' },
];
for (const { is, ...given } of standings)
  test(`a node with ${JSON.stringify(given)} is ${is}`, () => assert.equal(agentStateOf(adminFacts(given)), is));

const onTrusted: Given = { assigned: '9', lkg: '9', stored: '9', active: 'assigned 9' };
const beside: { given: Given; is: AgentState; next: RegExp }[] = [
  { given: { ...onTrusted, error: validate }, is: 'refused', next: /dkc history and the event KubeletConfigRefused .* name the fields/ },
  { given: { ...onTrusted, error: load }, is: 'refused', next: /not a kubelet configuration, .*dkc validate/ },
  { given: { active: 'local', error: failedTrial }, is: 'barred', next: /condemned on this node\. .*dkc retry/ },
  { given: { ...onTrusted, error: download }, is: 'not-synced', next: /exist, may this node read it, .*--configmap-namespace/ },
  { given: { active: 'local', error: noSource }, is: 'not-synced', next: /dkc assign; or clear the assignment with: dkc unassign/ },
  { given: { ...onTrusted, error: syncInternal }, is: 'not-synced', next: /disk.*journalctl -u dkc-agent/ },
  { given: { ...onTrusted, error: internal }, is: 'troubled', next: /disk.*journalctl -u dkc-agent/ },
  { given: { assigned: '9', stored: '9!', active: 'local', error: load }, is: 'fallen-back', next: /damaged.*dkc checkpoints verify/ },
  { given: { assigned: '9', stored: '9', active: 'local', error: failedTrial }, is: 'pending', next: /Waiting for the agent to apply it/ },
  { given: { assigned: '9', active: 'local', error: failedTrial }, is: 'fallen-back', next: /dkc retry/ },
  { given: { assigned: '!', active: 'local', error: internal }, is: 'unknown', next: /once it reaches the API server/ },
];
for (const { given, is, next } of beside)
  test(`a node with ${JSON.stringify(given)} is ${is}, and is told what to do about the error`, () => {
    assert.equal(agentStateOf(adminFacts(given)), is);
    assert.match(nextStep(adminFacts(given)), next);
  });

const trustedFacts = adminFacts(onTrusted);
const asides: { why: string; facts: AdminFacts; next: RegExp }[] = [
  { why: 'nothing', facts: trustedFacts, next: /^Nothing to do/ },
  { why: 'a missing local config', facts: { ...trustedFacts, local: { path: '/l', at: 'missing' } }, next: /last fallback.*localConfig/ },
  { why: 'damage', facts: { ...trustedFacts, problems: [{ path: '/j', problem: 'cut' }] }, next: /damaged.*dkc checkpoints verify/ },
];
for (const { why, facts, next } of asides)
  test(`a node that runs as it should says what to do about ${why}`, () => {
    assert.match(nextStep(facts), next);
    assert.equal(faultOf(facts) === undefined, why === 'nothing', 'whatever makes dkc status fail has a step');
  });

test('a node on trial is known by the record of that trial', () => {
  const content = { source: source('9'), kubeletConfigKey: 'kubelet', contentSha256: 'x' };
  const trial = { ...content, assignedAt: 'then', healthyMs: 5, exits: 0, exitsOffset: 0, bootId: '' };
  const facts = { ...adminFacts({ assigned: '9', stored: '9', active: 'assigned 9' }), trial };
  assert.equal(agentStateOf(facts), 'trial');
  assert.equal(agentStateOf({ ...facts, trial: { ...trial, source: source('8') } }), 'running');
  assert.deepEqual(viewStatus(facts, { node: 'n', kubeletUnit: 'kubelet.service', needMs: 600, vitals }).trial, { assignedAt: 'then', healthyMs: 5, needMs: 600 }); // prettier-ignore
});

test('status in json has the keys of the contract, api only when it was asked', () => {
  const facts = adminFacts({ assigned: '9', stored: '9', active: 'assigned 9' });
  const keys =
    'state since next agent kubelet refused node assigned active lastKnownGood error trial condemned effective assignment localConfig problems notices drift';
  assert.equal(Object.keys(viewStatus(facts, { node: 'n', kubeletUnit: 'kubelet.service', needMs: 1, vitals })).join(' '), keys);
  assert.equal(viewStatus(facts, { node: 'n', kubeletUnit: 'kubelet.service', needMs: 1, vitals, api: 'away' }).api, 'away');
});

test('checkpoints are intact, damaged or condemned, and damage goes first', () => {
  const rows = viewCheckpoints(adminFacts({ stored: '9 8=9 7 6!=9', assigned: '9', lkg: '7', active: 'assigned 9', condemned: [byAdmin] }));
  const shown = rows.map((row) => `${row.source.resourceVersion} ${row.state} ${row.roles.join(',')}`.trim());
  assert.deepEqual(shown, ['9 condemned assigned,active', '8 condemned', '7 intact last-known-good', '6 damaged']);
});

test('of two configurations the files that are the same on both sides are not listed', () => {
  const side = (files: Record<string, string>): Side => ({
    title: 'a',
    kubeletConfigKey: 'kubelet',
    files: new Map(Object.entries({ kubelet: kubeletYaml(1), same: 'x', ...files }).map(([key, text]) => [key, Buffer.from(text)])),
  });
  const compared = compareSides(side({ other: 'a' }), side({ other: 'b', new: '' }), parseKubeletVersion('1.36'));
  assert.deepEqual(compared, { ok: true, fields: [], files: [{ key: 'new', from: null, to: '' }, { key: 'other', from: 'a', to: 'b' }] }); // prettier-ignore
});
