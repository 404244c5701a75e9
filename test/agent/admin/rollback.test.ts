import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminFacts, condemnation, source, type Given } from '../../helpers/admin-facts.ts';
import { planRetry } from '../../../agent/admin/retry/plan.ts';
import { intendRollback, planRollback, type Landing, type RollbackAsked, type RollbackPlan } from '../../../agent/admin/rollback/plan.ts';
import type { AdminFacts } from '../../../agent/admin/facts.ts';
import { fallBack } from '../../../agent/admin/active.ts';
import { condemnationUnder } from '../../../agent/admin/roles.ts';
import { recorded } from '../../../agent/admin/facts.ts';
import type { Candidate } from '../../../agent/boot/plan.ts';

const at = '2026-02-01T00:00:00.000Z';
const stored = '9 8 7=9 6!';

/** `trust 8; condemn 9 by admin; journal rolled-back`, or `refused`. */
function steps(plan: RollbackPlan): string {
  if (plan.at === 'refused') return 'refused';
  return plan.steps
    .map((step) => {
      if (step.do === 'trust') return `trust ${step.source.resourceVersion}`;
      return step.do === 'condemn' ? `condemn ${step.record.resourceVersion} by ${step.record.by}` : `journal ${step.line.event}`;
    })
    .join('; ');
}

/** The plan on a node where boot finds nothing wrong but what the store shows. */
function plan(facts: AdminFacts, asked: RollbackAsked): RollbackPlan {
  const intent = intendRollback(facts, asked);
  return intent.at === 'refused' ? intent : planRollback(intent, landing(intent.after));
}

function landing(then: AdminFacts): Landing {
  const { used, source } = fallBack(then);
  return { used, source, effective: { do: 'write', bytes: new Uint8Array() }, lastKnownGood: candidate(then) };
}

function candidate(then: AdminFacts): Candidate {
  const trusted = recorded(then.lastKnownGood);
  if (trusted === null) return { at: 'none' };
  const entry = then.entries.find((one) => one.ref.resourceVersion === trusted.resourceVersion);
  const verdict = entry && condemnationUnder(entry, 'kubelet', then.condemned);
  if (verdict) return { at: 'condemned', source: trusted, by: verdict.by, reason: verdict.reason };
  return { at: 'unusable', source: trusted, stage: 'load', problem: 'its checkpoint is damaged' };
}

const said = (planned: RollbackPlan): string => (planned.at === 'refused' ? planned.why : planned.notes.join('\n'));

const base: Given = { stored, assigned: '9', lkg: '8' };
const condemn = 'condemn 9 by admin; journal rolled-back';
const cases: { why: string; given: Given; to?: string; steps: string; says: RegExp }[] = [
  { why: 'goes to last-known-good', given: base, steps: condemn, says: /goes to ns\/web:kubelet@8/ },
  { why: 'goes to the local config without one', given: { ...base, lkg: '-' }, steps: condemn, says: /no last-known-good.*local config/ },
  {
    why: 'warns when last-known-good has the same content',
    given: { ...base, lkg: '7' },
    steps: condemn,
    says: /same content.*local config/,
  },
  { why: 'warns when last-known-good is damaged', given: { ...base, lkg: '6' }, steps: condemn, says: /cannot be used.*local config/ },
  {
    why: 'trusts what --to names, before it condemns',
    given: { ...base, lkg: '-' },
    to: 'u1/8',
    steps: `trust 8; ${condemn}`,
    says: /goes to ns\/web:kubelet@8/,
  },
  { why: 'does not write the same trust again', given: base, to: 'last-known-good', steps: condemn, says: /kubelet@8/ },
  { why: 'refuses a damaged --to', given: base, to: 'u1/6', steps: 'refused', says: /damaged/ },
  { why: 'refuses the condemned content as --to', given: base, to: 'u1/7', steps: 'refused', says: /being rolled back/ },
  {
    why: 'refuses a --to that is condemned',
    given: { ...base, condemned: [condemnation('8')] },
    to: 'u1/8',
    steps: 'refused',
    says: /condemned \(kubelet exits\)/,
  },
  { why: 'refuses a --to that is not there', given: base, to: 'u1/5', steps: 'refused', says: /no checkpoint/ },
  { why: 'refuses with nothing assigned', given: { ...base, assigned: '-' }, steps: 'refused', says: /nothing is assigned/ },
  { why: 'refuses when the assigned is not known', given: { ...base, assigned: '!' }, steps: 'refused', says: /not known/ },
  { why: 'refuses when the content is not known', given: { ...base, assigned: '5' }, steps: 'refused', says: /missing or damaged/ },
  {
    why: 'condemns a damaged checkpoint by its manifest',
    given: { ...base, assigned: '6' },
    steps: 'condemn 6 by admin; journal rolled-back',
    says: /kubelet@8/,
  },
  {
    why: 'does nothing twice',
    given: { ...base, condemned: [condemnation('9', { by: 'admin' })] },
    steps: '',
    says: /condemned already, by admin/,
  },
];
for (const c of cases) {
  test(`rollback ${c.why}`, () => {
    const planned = plan(adminFacts(c.given), { at, ...(c.to === undefined ? {} : { to: c.to }) });
    assert.equal(steps(planned), c.steps);
    assert.match(said(planned), c.says);
  });
}

test('a rollback records who, what, why, and the retry annotation of that moment', () => {
  const facts = adminFacts(base);
  const annotated = facts.entries.map((entry) => ({
    ...entry,
    ...(entry.manifest && { manifest: { ...entry.manifest, annotations: { 'dkc.dev/retry': '3' } } }),
  }));
  const planned = plan({ ...facts, entries: annotated }, { at, reason: 'pods evicted' });
  const record = planned.at === 'planned' ? planned.steps.find((step) => step.do === 'condemn') : undefined;
  const wanted = condemnation('9', { by: 'admin', at, reason: 'pods evicted', retry: '3' });
  assert.deepEqual(record, { do: 'condemn', record: wanted });
});

test('--key says which key of --to is the kubelet configuration, and must be there', () => {
  assert.match(said(plan(adminFacts({ ...base, lkg: '-' }), { at, to: 'u1/8', key: 'other' })), /no key "other"/);
});

const refusedByBoot: Candidate = { at: 'unusable', source: source('8'), stage: 'validate', problem: 'maxPods: must not be negative' };
const arrivals: { why: string; to?: string; effective: Landing['effective']; steps: string; says: RegExp }[] = [
  {
    why: 'refuses a --to that boot refuses',
    to: 'u1/8',
    effective: { do: 'keep' },
    steps: 'refused',
    says: /^--to u1\/8: .*maxPods: must/,
  },
  {
    why: 'names what boot has against last-known-good, and goes local',
    effective: { do: 'write', bytes: new Uint8Array() },
    steps: condemn,
    says: /kubelet@8.*maxPods: must not be negative: this node goes to its local config/,
  },
  {
    why: 'says that without a local config the file stays',
    effective: { do: 'keep' },
    steps: condemn,
    says: /stays on the effective file/,
  },
  { why: 'says that only defaults are left', effective: { do: 'write-minimal' }, steps: condemn, says: /goes to a kubelet's defaults/ },
];
for (const { why, to, effective, ...c } of arrivals)
  test(`rollback ${why}`, () => {
    const intent = intendRollback(adminFacts(base), { at, ...(to === undefined ? {} : { to }) });
    assert.ok(intent.at === 'intended');
    const planned = planRollback(intent, { used: 'local', source: null, effective, lastKnownGood: refusedByBoot });
    assert.equal(steps(planned), c.steps);
    assert.match(said(planned), c.says);
  });

const condemned = [condemnation('9'), condemnation('8', { by: 'admin' }), condemnation('5')];
const retries = [
  { why: 'clears all', cleared: '9 8 5' },
  { why: 'clears one', ref: 'u1/8', cleared: '8' },
  { why: 'clears what hit the same content', ref: 'u1/7', cleared: '9' },
  { why: 'clears what is in the store no more', ref: 'u1/5', cleared: '5' },
  { why: 'clears nothing of a checkpoint that is not condemned', ref: 'u1/6', cleared: '' },
  { why: 'goes by role', ref: 'assigned', cleared: '9' },
];
for (const c of retries) {
  test(`retry ${c.why}`, () => {
    const plan = planRetry(adminFacts({ ...base, condemned }), { at, ...(c.ref === undefined ? {} : { ref: c.ref }) });
    assert.ok(plan.at === 'planned');
    assert.equal(plan.cleared.map((record) => record.resourceVersion).join(' '), c.cleared);
    assert.deepEqual(
      plan.journal.map((line) => [line.event, line.source]),
      plan.cleared.map((record) => ['retried', source(record.resourceVersion)]),
    );
  });
}

test('retry refuses what names nothing', () => {
  assert.equal(planRetry(adminFacts(base), { at, ref: 'zz' }).at, 'refused');
  assert.equal(planRetry(adminFacts({ ...base, lkg: '-' }), { at, ref: 'last-known-good' }).at, 'refused');
});
