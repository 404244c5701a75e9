import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminFacts, condemnation, source, type Given } from '../../../support/admin-facts.ts';
import { planRetry } from '../../../../agent/admin/retry.ts';
import { arrives, intendRollback, planRollback, type Landing, type RollbackOptions, type RollbackPlan } from '../../../../agent/admin/rollback/plan.ts'; // prettier-ignore
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
  const object = (step: (typeof plan.steps)[number]): string => {
    if ('source' in step) return ` ${step.source.resourceVersion}`;
    if (step.do === 'condemn') return ` ${step.record.resourceVersion} by ${step.record.by}`;
    return step.do === 'journal' ? ` ${step.line.event}` : '';
  };
  return plan.steps.map((step) => `${step.do}${object(step)}`).join('; ');
}

/** The plan on a node where boot finds nothing wrong but what the store shows. */
function plan(facts: AdminFacts, asked: RollbackOptions): RollbackPlan {
  const intent = intendRollback(facts, asked);
  if (intent.at === 'refused') return intent;
  const way = intent.routes.find((one) => one === intent.routes.at(-1) || arrives(one, landing(one.after)));
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

/** `promoted 5 8, condemned 8`, oldest first. */
const journal = (text: string): JournalLine[] =>
  text.split(', ').flatMap((line) => {
    const [event = '', ...names] = line.split(' ');
    const of = (name: string | null) => ({ at, event: event as JournalLine['event'], source: name === null ? null : source(name), detail: '' }); // prettier-ignore
    return event === '' ? [] : names.length === 0 ? [of(null)] : names.map(of);
  });

const said = (planned: RollbackPlan): string => (planned.at === 'refused' ? planned.why : planned.notes.join('\n'));

const base: Given = { stored, assigned: '9', lkg: '8' };
const condemn = 'condemn 9 by admin; journal rolled-back';
/** What differs from `base`, where 9 is assigned and 8 last known good, and what an admin says. */
type On = Given & { journal?: string; to?: string; force?: boolean };

const same = /^last-known-good has the same content, so this node reverts to its local config \(use --to to pick another checkpoint\)$/;
const never = /^--to u1\/8: ns\/web:kubelet@8 was never trusted on this node; --force uses it anyway, on trial like any other$/;
const tried = 'assign 8; journal rolled-back; journal assigned';
const onTrial = /goes to ns\/web:kubelet@8, on trial$/;
const past = { stored: '9 7=9 6! 5 4', lkg: '9', condemned: [condemnation('5')], journal: 'promoted 4 3 5 6 7 9' };
// prettier-ignore
const rollbacks: [why: string, on: On, steps: string, says: RegExp][] = [
  ['goes to what was trusted before the assigned, as an undo does', { stored: '9 8 5 4', lkg: '9', journal: 'promoted 4 5 8 9' }, `set-last-known-good 8; ${condemn}`, /@8/],
  ['goes past what is damaged, condemned, gone or of the same content', past, `set-last-known-good 4; ${condemn}`, /@4/],
  ['goes to what --to names, which it trusts before it condemns', { lkg: '-', journal: 'promoted 8', to: 'u1/8' }, `set-last-known-good 8; ${condemn}`, /@8/],
  ['goes to last-known-good', {}, condemn, /goes to ns\/web:kubelet@8/],
  ['goes to the local config when last-known-good has the same content and nothing was trusted before', { lkg: '7', journal: 'promoted 9 7' }, condemn, same],
  ['goes to the local config where that was before it: the assignment had been cleared', { stored: '9 5', lkg: '9', journal: 'promoted 5, reset, promoted 9' }, condemn, /reverts to its local config/],
  ['warns when last-known-good is damaged', { lkg: '6' }, condemn, /cannot be used.*local config/],
  ['does not write the same trust again', { to: 'last-known-good' }, condemn, /kubelet@8/],
  ['condemns a damaged checkpoint by its manifest', { assigned: '6' }, 'condemn 6 by admin; journal rolled-back', /kubelet@8/],
  ['refuses a damaged --to', { to: 'u1/6' }, 'refused', /damaged/],
  ['refuses the condemned content as --to', { to: 'u1/7', force: true }, 'refused', /being rolled back/],
  ['refuses a --to that was never trusted', { lkg: '-', to: 'u1/8' }, 'refused', never],
  ['refuses a --to that is condemned', { condemned: [condemnation('8')], to: 'u1/8' }, 'refused', /kubelet@8 is condemned \(by agent: kubelet exits\); --force/],
  ['refuses a condemned --to that was trusted once', { condemned: [condemnation('8')], journal: 'promoted 8', to: 'u1/8' }, 'refused', /is condemned/],
  ['refuses the local config as --to', { active: 'local', to: 'active' }, 'refused', /the active config is the local config; it cannot become last-known-good/],
  ['refuses a --to that preflight refused', { lkg: '-', journal: 'refused 8', to: 'u1/8' }, 'refused', /kubelet@8 was refused by this node; --force/],
  ['refuses a --to that is not there', { to: 'u1/5' }, 'refused', /no checkpoint/],
  ['is refused with nothing assigned', { assigned: '-' }, 'refused', /nothing is assigned/],
  ['is refused when the assigned is not known', { assigned: '!' }, 'refused', /unknown/],
  ['goes to the local config without a last-known-good', { lkg: '-' }, condemn, /no last-known-good.*local config/],
  ['is refused when the content is not known', { assigned: '5' }, 'refused', /missing or damaged/],
  ['with --force assigns a --to that was never trusted', { lkg: '-', to: 'u1/8', force: true }, `condemn 9 by admin; ${tried}`, onTrial],
  ['with --force clears a --to that is condemned', { lkg: '-', condemned: [condemnation('8')], to: 'u1/8', force: true }, `condemn 9 by admin; clear-condemned; ${tried}`, onTrial],
  ['leaves the trial something trusted to go back to', { stored: '9 8 5', lkg: '9', journal: 'promoted 5 9', to: 'u1/8', force: true }, `set-last-known-good 5; condemn 9 by admin; ${tried}`, onTrial],
];
for (const [why, { journal: lines = '', to, force = false, ...given }, wanted, says] of rollbacks)
  test(`rollback ${why}`, () => {
    const facts = { ...adminFacts({ ...base, ...given }), journal: journal(lines) };
    const planned = plan(facts, { at, force, ...(to === undefined ? {} : { to }) });
    assert.equal(steps(planned), wanted);
    assert.match(said(planned), says);
  });

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

const condemned = [condemnation('9'), condemnation('8', { by: 'admin' }), condemnation('5')];
const retries: { why: string; ref?: string; all?: true; cleared: string; says: RegExp }[] = [
  { why: 'clears the assigned alone unless told otherwise', cleared: '9', says: /^ns\/web:kubelet@9 is no longer condemned$/ },
  { why: 'clears all with --all', all: true, cleared: '9 8 5', says: /@9 is no longer condemned\n.*@8 is no.*\n.*@5 is no/ },
  { why: 'clears one', ref: 'u1/8', cleared: '8', says: /@8 is no longer/ },
  { why: 'clears what hit the same content', ref: 'u1/7', cleared: '9', says: /@9 is no longer/ },
];
for (const c of retries)
  test(`retry ${c.why}`, () => {
    const plan = planRetry(adminFacts({ ...base, condemned }), { at, all: c.all ?? false, ...(c.ref === undefined ? {} : { ref: c.ref }) });
    assert.ok(plan.at === 'planned');
    assert.equal(plan.cleared.map((record) => record.resourceVersion).join(' '), c.cleared);
    assert.match(plan.notes.join('\n'), c.says);
    const journaled = plan.journal.map((line) => [line.event, line.source]);
    assert.deepEqual(journaled, plan.cleared.map((record) => ['retried', source(record.resourceVersion)])); // prettier-ignore
  });

test('retry says that there is nothing to retry, and why', () => {
  const notes = (given: Given): string => {
    const plan = planRetry(adminFacts(given), { at, all: false });
    return plan.at === 'planned' ? plan.notes.join() : plan.why;
  };
  assert.equal(notes(base), 'Nothing to retry: no condemned configs');
  assert.match(notes({ ...base, assigned: '-', condemned }), /nothing is assigned; name one with REF, or use --all \(condemned: /);
});

test('retry of the assigned leaves another key of the same ConfigMap condemned', () => {
  const other = condemnation('9', { kubeletConfigKey: 'other' });
  const plan = planRetry(adminFacts({ ...base, assigned: '9', condemned: [other, condemnation('9')] }), { at });
  assert.deepEqual(plan.at === 'planned' && plan.cleared.map(({ kubeletConfigKey }) => kubeletConfigKey), ['kubelet']);
});

test('retry refuses what names nothing', () => {
  for (const ref of ['zz', 'last-known-good'])
    assert.equal(planRetry(adminFacts({ ...base, lkg: '-', condemned }), { at, ref }).at, 'refused');
});
