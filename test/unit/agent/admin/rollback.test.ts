import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminFacts, condemnation, source, type Given } from '../../../support/admin-facts.ts';
import { planRetry } from '../../../../agent/admin/retry.ts';
import {
  arrives,
  intendRollback,
  planRollback,
  type Landing,
  type RollbackAsked,
  type RollbackPlan,
} from '../../../../agent/admin/rollback/plan.ts';
import { type AdminFacts, fallBack, recorded } from '../../../../agent/admin/facts.ts';
import { condemnationUnder } from '../../../../agent/admin/roles.ts';
import type { Candidate } from '../../../../agent/boot/plan.ts';
import { samePayload } from '../../../../agent/checkpoint/source.ts';
import type { JournalLine, MetaRecord } from '../../../../agent/store/store.ts';

const at = '2026-02-01T00:00:00.000Z';
const stored = '9 8 7=9 6!';

/** `set-last-known-good 8; condemn 9 by admin; journal rolled-back`, or `refused`. */
function steps(plan: RollbackPlan): string {
  if (plan.at === 'refused') return 'refused';
  return plan.steps
    .map((step) => {
      switch (step.do) {
        case 'set-last-known-good':
        case 'assign':
          return `${step.do} ${step.source.resourceVersion}`;
        case 'condemn':
          return `condemn ${step.record.resourceVersion} by ${step.record.by}`;
        case 'clear-condemned':
          return 'clear-condemned';
        case 'journal':
          return `journal ${step.line.event}`;
      }
    })
    .join('; ');
}

/** The plan on a node where boot finds nothing wrong but what the store shows. */
function plan(facts: AdminFacts, asked: RollbackAsked): RollbackPlan {
  const intent = intendRollback(facts, asked);
  if (intent.at === 'refused') return intent;
  const way = intent.ways.find((one) => one === intent.ways.at(-1) || arrives(one, landing(one.after)));
  assert.ok(way);
  return planRollback(intent, way, landing(way.after));
}

function landing(then: AdminFacts): Landing {
  const { used, source } = fallBack(then);
  const write = { do: 'write', bytes: new Uint8Array() } as const;
  return { used, source, effective: write, assigned: candidate(then.assigned, then), lastKnownGood: candidate(then.lastKnownGood, then) };
}

function candidate(record: MetaRecord, then: AdminFacts): Candidate {
  const named = recorded(record);
  if (named === null) return { at: 'none' };
  const entry = then.entries.find((one) => samePayload(one.ref, named));
  const verdict = entry && condemnationUnder(entry, 'kubelet', then.condemned);
  if (verdict) return { at: 'condemned', source: named, by: verdict.by, reason: verdict.reason };
  return { at: 'unusable', source: named, stage: 'load', problem: 'its checkpoint is damaged' };
}

/** `promoted 8, condemned 8`, oldest first. */
const journal = (text: string): JournalLine[] =>
  text === ''
    ? []
    : text.split(', ').map((line) => {
        const [event = '', name] = line.split(' ');
        return { at, event: event as JournalLine['event'], source: name === undefined ? null : source(name), detail: '' };
      });

const said = (planned: RollbackPlan): string => (planned.at === 'refused' ? planned.why : planned.notes.join('\n'));

const base: Given = { stored, assigned: '9', lkg: '8' };
const condemn = 'condemn 9 by admin; journal rolled-back';
const cases: { why: string; given: Given; journal?: string; to?: string; force?: true; steps: string; says: RegExp }[] = [
  { why: 'goes to last-known-good', given: base, steps: condemn, says: /goes to ns\/web:kubelet@8/ },
  { why: 'goes to the local config without one', given: { ...base, lkg: '-' }, steps: condemn, says: /no last-known-good.*local config/ },
  {
    why: 'goes to the local config when last-known-good has the same content and nothing was trusted before',
    given: { ...base, lkg: '7' },
    journal: 'promoted 9, promoted 7',
    steps: condemn,
    says: /^last-known-good has the same content, so this node reverts to its local config \(use --to to pick another checkpoint\)$/,
  },
  {
    why: 'goes to what was trusted before the assigned, as an undo does',
    given: { ...base, stored: '9 8 5 4', lkg: '9' },
    journal: 'promoted 4, promoted 5, promoted 8, promoted 9',
    steps: `set-last-known-good 8; ${condemn}`,
    says: /goes to ns\/web:kubelet@8/,
  },
  {
    why: 'passes over what is damaged, condemned, gone or of the same content on its way back',
    given: { ...base, stored: '9 7=9 6! 5 4', lkg: '9', condemned: [condemnation('5')] },
    journal: 'promoted 4, promoted 3, promoted 5, promoted 6, promoted 7, promoted 9',
    steps: `set-last-known-good 4; ${condemn}`,
    says: /goes to ns\/web:kubelet@4/,
  },
  {
    why: 'does not go back to what a later trial condemned, though that was retried since',
    given: { ...base, stored: '9 5 4', lkg: '9' },
    journal: 'promoted 4, promoted 5, condemned 5, retried 5, promoted 9',
    steps: `set-last-known-good 4; ${condemn}`,
    says: /goes to ns\/web:kubelet@4/,
  },
  {
    why: 'goes back to what an admin rolled back and retried: a trial had trusted it',
    given: { ...base, stored: '9 5', lkg: '9' },
    journal: 'promoted 5, rolled-back 5, retried 5, promoted 9',
    steps: `set-last-known-good 5; ${condemn}`,
    says: /goes to ns\/web:kubelet@5/,
  },
  {
    why: 'goes to the local config where that was before it: the assignment had been cleared',
    given: { ...base, stored: '9 5', lkg: '9' },
    journal: 'promoted 5, reset, promoted 9',
    steps: condemn,
    says: /reverts to its local config/,
  },
  {
    why: 'goes to what was trusted before a last-known-good that is damaged',
    given: { ...base, stored: '9 6! 4', lkg: '6' },
    journal: 'promoted 4, promoted 6',
    steps: `set-last-known-good 4; ${condemn}`,
    says: /kubelet@4/,
  },
  { why: 'warns when last-known-good is damaged', given: { ...base, lkg: '6' }, steps: condemn, says: /cannot be used.*local config/ },
  {
    why: 'trusts what --to names, before it condemns, when it was trusted once',
    given: { ...base, lkg: '-' },
    journal: 'promoted 8',
    to: 'u1/8',
    steps: `set-last-known-good 8; ${condemn}`,
    says: /goes to ns\/web:kubelet@8/,
  },
  { why: 'does not write the same trust again', given: base, to: 'last-known-good', steps: condemn, says: /kubelet@8/ },
  { why: 'takes --to by name', given: base, to: 'ns/web@8', steps: condemn, says: /kubelet@8/ },
  { why: 'refuses a damaged --to', given: base, to: 'u1/6', steps: 'refused', says: /damaged/ },
  { why: 'refuses the condemned content as --to', given: base, to: 'u1/7', force: true, steps: 'refused', says: /being rolled back/ },
  {
    why: 'refuses a --to that was never trusted',
    given: { ...base, lkg: '-' },
    to: 'u1/8',
    steps: 'refused',
    says: /^--to u1\/8: ns\/web:kubelet@8 was never trusted on this node; --force uses it anyway, on trial like any other$/,
  },
  {
    why: 'refuses a --to that a trial condemned after it had been trusted, and that was retried',
    given: { ...base, lkg: '-' },
    journal: 'promoted 8, condemned 8, retried 8',
    to: 'u1/8',
    steps: 'refused',
    says: /never trusted/,
  },
  {
    why: 'tries a --to that was never trusted with --force: it is assigned here, not trusted',
    given: { ...base, lkg: '-' },
    to: 'u1/8',
    force: true,
    steps: 'condemn 9 by admin; assign 8; journal rolled-back; journal assigned',
    says: /^this node goes to ns\/web:kubelet@8, on trial$/,
  },
  {
    why: 'tries a --to with --force on a node that fell back from the assigned',
    given: { ...base, lkg: '-', condemned: [condemnation('9')] },
    to: 'u1/8',
    force: true,
    steps: 'assign 8; journal rolled-back; journal assigned',
    says: /kubelet@8, on trial/,
  },
  {
    why: 'refuses a --to that is condemned',
    given: { ...base, condemned: [condemnation('8')] },
    to: 'u1/8',
    steps: 'refused',
    says: /kubelet@8 is condemned \(by agent: kubelet exits\); --force/,
  },
  {
    why: 'clears the condemnation of a --to with --force, and does not trust it',
    given: { ...base, lkg: '-', condemned: [condemnation('8')] },
    journal: 'promoted 8',
    to: 'u1/8',
    force: true,
    steps: 'condemn 9 by admin; clear-condemned; assign 8; journal rolled-back; journal assigned',
    says: /kubelet@8, on trial/,
  },
  {
    why: 'leaves a trial something trusted to go back to, where last-known-good is what is rolled back',
    given: { ...base, stored: '9 8 5', lkg: '9' },
    journal: 'promoted 5, promoted 9',
    to: 'u1/8',
    force: true,
    steps: 'set-last-known-good 5; condemn 9 by admin; assign 8; journal rolled-back; journal assigned',
    says: /kubelet@8, on trial/,
  },
  {
    why: 'refuses a --to that preflight refused',
    given: { ...base, lkg: '-' },
    journal: 'refused 8',
    to: 'u1/8',
    steps: 'refused',
    says: /kubelet@8 was refused by this node; --force/,
  },
  { why: 'refuses a --to that is not there', given: base, to: 'u1/5', steps: 'refused', says: /no checkpoint/ },
  {
    why: 'refuses the local config as --to',
    given: { ...base, assigned: '9', active: 'local' },
    to: 'active',
    steps: 'refused',
    says: /the active config is the local config; it cannot become last-known-good/,
  },
  { why: 'refuses with nothing assigned', given: { ...base, assigned: '-' }, steps: 'refused', says: /nothing is assigned/ },
  { why: 'refuses when the assigned is not known', given: { ...base, assigned: '!' }, steps: 'refused', says: /unknown/ },
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
    says: /is already condemned \(by admin, /,
  },
];
for (const c of cases) {
  test(`rollback ${c.why}`, () => {
    const facts = { ...adminFacts(c.given), journal: journal(c.journal ?? '') };
    const planned = plan(facts, { at, force: c.force ?? false, ...(c.to === undefined ? {} : { to: c.to }) });
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
    says: /kubelet@8.*maxPods: must not be negative, so this node reverts to its local config/,
  },
  {
    why: 'says that without a local config the file stays',
    effective: { do: 'keep' },
    steps: condemn,
    says: /keeps its current effective file/,
  },
  { why: 'says that only defaults are left', effective: { do: 'write-minimal' }, steps: condemn, says: /goes to the kubelet's defaults/ },
];
for (const { why, to, effective, ...c } of arrivals)
  test(`rollback ${why}`, () => {
    const intent = intendRollback(adminFacts(base), { at, ...(to === undefined ? {} : { to }) });
    assert.ok(intent.at === 'intended');
    const way = intent.ways.at(to === undefined ? -1 : 0);
    assert.ok(way);
    const planned = planRollback(intent, way, {
      used: 'local',
      source: null,
      effective,
      assigned: { at: 'none' },
      lastKnownGood: refusedByBoot,
    });
    assert.equal(steps(planned), c.steps);
    assert.match(said(planned), c.says);
  });

const condemned = [condemnation('9'), condemnation('8', { by: 'admin' }), condemnation('5')];
const retries: { why: string; ref?: string; all?: true; cleared: string; says: RegExp }[] = [
  { why: 'clears the assigned alone unless told otherwise', cleared: '9', says: /^ns\/web:kubelet@9 is no longer condemned$/ },
  { why: 'clears all with --all', all: true, cleared: '9 8 5', says: /@9 is no longer condemned\n.*@8 is no.*\n.*@5 is no/ },
  { why: 'clears one', ref: 'u1/8', cleared: '8', says: /@8 is no longer/ },
  { why: 'clears one by name', ref: 'web@8', cleared: '8', says: /@8 is no longer/ },
  { why: 'clears what hit the same content', ref: 'u1/7', cleared: '9', says: /@9 is no longer/ },
  { why: 'clears what is in the store no more', ref: 'u1/5', cleared: '5', says: /@5 is no longer/ },
  {
    why: 'says of a checkpoint that it is not condemned, and what is',
    ref: 'u1/6',
    cleared: '',
    says: /^ns\/web:kubelet@6 is not condemned \(condemned: ns\/web:kubelet@5, ns\/web:kubelet@8, ns\/web:kubelet@9\)$/,
  },
  { why: 'goes by role', ref: 'assigned', cleared: '9', says: /@9/ },
];
for (const c of retries) {
  test(`retry ${c.why}`, () => {
    const plan = planRetry(adminFacts({ ...base, condemned }), { at, all: c.all ?? false, ...(c.ref === undefined ? {} : { ref: c.ref }) });
    assert.ok(plan.at === 'planned');
    assert.equal(plan.cleared.map((record) => record.resourceVersion).join(' '), c.cleared);
    assert.match(plan.notes.join('\n'), c.says);
    assert.deepEqual(
      plan.journal.map((line) => [line.event, line.source]),
      plan.cleared.map((record) => ['retried', source(record.resourceVersion)]),
    );
  });
}

test('retry says that there is nothing to retry, and why', () => {
  const notes = (given: Given, all = false): string => {
    const plan = planRetry(adminFacts(given), { at, all });
    return plan.at === 'planned' ? plan.notes.join() : plan.why;
  };
  assert.equal(notes(base), 'Nothing to retry: no condemned configs');
  assert.equal(notes(base, true), 'Nothing to retry: no condemned configs');
  assert.match(notes({ ...base, assigned: '-', condemned }), /nothing is assigned; name one with REF, or use --all \(condemned: /);
  const many = Array.from({ length: 3000 }, (_, n) => condemnation(String(n + 10)));
  assert.ok(notes({ ...base, condemned: many }).length < 200);
  assert.ok(notes({ ...base, condemned: many }, true).length < 300);
});

test('retry refuses what names nothing', () => {
  assert.equal(planRetry(adminFacts({ ...base, condemned }), { at, ref: 'zz' }).at, 'refused');
  assert.equal(planRetry(adminFacts({ ...base, lkg: '-' }), { at, ref: 'last-known-good' }).at, 'refused');
});
