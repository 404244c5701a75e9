import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminFacts, condemnation, type Given, source } from '../../../support/admin-facts.ts';
import { steadyDrill } from '../../../../agent/admin/drill/execute.ts';
import {
  checkBoot,
  describePeek,
  hasSwitched,
  isHealthyOn,
  type Peek,
  planDrill,
  planLiveDrill,
  report,
} from '../../../../agent/admin/drill/plan.ts';

const both: Given = { stored: '9 8', assigned: '9', lkg: '8' };
// In the order: as it is, assigned damaged, assigned condemned, both damaged, record damaged.
const cases = [
  { why: 'with a last-known-good of other content', given: both, ends: 'assigned last-known-good last-known-good local last-known-good' },
  { why: 'with the assigned as last-known-good', given: { ...both, lkg: '9' }, ends: 'assigned local local local last-known-good' },
  {
    why: 'with the same content trusted under another version',
    given: { ...both, stored: '9 8=9' },
    ends: 'assigned last-known-good local local last-known-good',
  },
  {
    why: 'already condemned',
    given: { ...both, condemned: [condemnation('9')] },
    ends: 'last-known-good last-known-good last-known-good local last-known-good',
  },
  { why: 'with nothing assigned', given: { ...both, assigned: '-' }, ends: 'local last-known-good' },
];
for (const { why, given, ends } of cases) {
  test(`a drill ${why} knows where each step must end`, () => {
    assert.equal(
      planDrill(adminFacts(given))
        .map((scenario) => scenario.expected)
        .join(' '),
      ends,
    );
  });
}

test('a drill begins again where a trial ended under it, three times at most', async () => {
  const inTrial: Given = { ...both, lkg: '-' };
  for (const { passes, tries } of [
    { passes: [false, true], tries: 2 },
    { passes: [false, false, false], tries: 3 },
  ]) {
    const [looks, rehearsed] = [[inTrial, both, inTrial, both], [] as boolean[]];
    const look = async () => adminFacts(looks.shift() ?? assert.fail('it looked once more'));
    const { passed } = await steadyDrill(look, async () => {
      const held = passes[rehearsed.length] ?? assert.fail('it began once more');
      rehearsed.push(held);
      return { passed: held, steps: [] };
    });
    assert.deepEqual([passed, rehearsed.length], [passes.at(-1), tries]);
  }
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
for (const { why, given, there, refused } of live) {
  test(`a live drill ${why}`, () => {
    const plan = planLiveDrill(adminFacts(given), at);
    if (refused) assert.match(plan.at === 'refused' ? plan.why : 'planned', refused);
    else assert.equal(plan.at === 'planned' && plan.there.used, there);
  });
}

test('a live drill condemns as an admin would', () => {
  const plan = planLiveDrill(adminFacts(runsIt), at);
  assert.deepEqual(plan.at === 'planned' && plan.record, condemnation('9', { by: 'admin', at, reason: 'drill' }));
});

test('the agent has arrived when it says so of the very file that is there', () => {
  const active = adminFacts({ active: 'last-known-good 8' }).active;
  const place = { used: 'last-known-good', source: source('8') } as const;
  const there: Peek = { active, effectiveSha256: 'e', startedSha256: 'e', healthy: true };
  assert.equal(hasSwitched(there, place), true);
  assert.equal(hasSwitched({ ...there, effectiveSha256: 'other' }, place), false);
  assert.equal(hasSwitched(there, { ...place, source: source('7') }), false);
  assert.equal(hasSwitched({ ...there, active: undefined }, place), false);
  assert.deepEqual([isHealthyOn(there), describePeek(there)], [true, 'last-known-good']);
  const { startedSha256: _, ...unknown } = there;
  assert.equal(isHealthyOn(unknown), true);
});
