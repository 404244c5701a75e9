import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminFacts, condemnation, type Given } from '../../../support/admin-facts.ts';
import { liveDrill } from '../../../../agent/admin/drill/execute.ts';
import { checkBoot, planDrill, planLiveDrill, report, type Peek } from '../../../../agent/admin/drill/plan.ts';
import { assignedAndTrusted } from '../../../support/node-on-disk.ts';
import type { ActiveRecord } from '../../../../agent/store/active-record.ts';
import { realClock } from '../../../../base/clock.ts';

const both: Given = { stored: '9 8', assigned: '9', lkg: '8' };
// In the order: as it is, assigned damaged, assigned condemned, both damaged, record damaged.
const cases = [
  { why: 'with a last-known-good of other content', given: both, ends: 'assigned last-known-good last-known-good local last-known-good' },
  { why: 'with the assigned as last-known-good', given: { ...both, lkg: '9' }, ends: 'assigned local local local last-known-good' },
  { why: 'with its content trusted under another version', given: { ...both, stored: '9 8=9' }, ends: 'assigned last-known-good local local last-known-good' },
  { why: 'already condemned', given: { ...both, condemned: [condemnation('9')] }, ends: 'last-known-good last-known-good last-known-good local last-known-good' },
  { why: 'with nothing assigned', given: { ...both, assigned: '-' }, ends: 'local last-known-good' },
]; // prettier-ignore
for (const { why, given, ends } of cases)
  test(`a drill ${why} knows where each step must end`, () => {
    const expected = planDrill(adminFacts(given)).map((scenario) => scenario.expected);
    assert.equal(expected.join(' '), ends);
  });

test('a step passes only with the expected source and a usable file', () => {
  const scenario = { step: 's', harm: 'none', expected: 'local' } as const;
  assert.equal(checkBoot(scenario, { used: 'local', usable: true }, 3).passed, true);
  assert.equal(checkBoot(scenario, { used: 'assigned', usable: true }, 3).passed, false);
  const unusable = checkBoot(scenario, { used: 'local', usable: false }, 3);
  assert.deepEqual([unusable.passed, unusable.expected], [false, 'local']);
  assert.match(unusable.seen, /without an effective file/);
  assert.equal(report([]).passed, false);
});

const at = '2026-02-01T00:00:00.000Z';
const runsIt: Given = { ...both, active: 'assigned 9' };
const live: { why: string; given: Given; there?: string; refused?: RegExp }[] = [
  { why: 'goes to last-known-good and back', given: runsIt, there: 'last-known-good' },
  { why: 'goes to the local config where there is nothing else', given: { ...runsIt, lkg: '9' }, there: 'local' },
  { why: 'is refused with nothing assigned', given: { ...runsIt, assigned: '-' }, refused: /nothing is assigned/ },
  { why: 'is refused without the word of the agent', given: both, refused: /has not recorded/ },
  { why: 'is refused after a fall back', given: { ...runsIt, active: 'last-known-good 8' }, refused: /already fallen back/ },
  { why: 'is refused when the checkpoint is gone', given: { ...runsIt, stored: '8' }, refused: /missing or damaged/ },
];
for (const { why, given, there, refused } of live)
  test(`a live drill ${why}`, () => {
    const plan = planLiveDrill(adminFacts(given), at);
    if (refused) assert.match(plan.at === 'refused' ? plan.why : 'planned', refused);
    else assert.equal(plan.at === 'planned' && plan.there.used, there);
  });

test('an interrupted drill takes its condemnation back before it ends', async (t) => {
  const { store, assigned, observe, now } = await assignedAndTrusted(t);
  const plan = planLiveDrill(await observe(), new Date(now()).toISOString());
  assert.ok(plan.at === 'planned');
  const control = new AbortController();
  /** An agent that does not follow. */
  const peek = async (): Promise<Peek> => {
    if ((await store.condemned()).length > 0) control.abort(new Error('ended by SIGINT'));
    const record: ActiveRecord = { used: 'assigned', source: assigned, error: null, effectiveSha256: 'a', carrier: 'node', why: '', at: '' }; // prettier-ignore
    return { active: { ok: true, record }, effectiveSha256: 'a', startedSha256: 'a', healthy: true };
  };
  await assert.rejects(
    liveDrill(plan, { store, clock: realClock, signal: control.signal, peek, printProgress: () => {}, timeoutMs: 10_000 }),
    /Cannot finish the drill at "fall back: .*: it was interrupted; its condemnation is cleared/,
  );
  assert.deepEqual(await store.condemned(), []);
});
