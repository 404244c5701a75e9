import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTrial, openRecord, type Trial, type TrialLimits, type TrialStart, verdictOn } from '../../../../agent/trial/next.ts';
import type { TrialRecord } from '../../../../agent/store/store.ts';
import { content, source } from '../../../support/builders.ts';

const limits: TrialLimits = { trialMs: 60_000, unhealthyDeadlineMs: 30_000, maxExits: 3, longestGapMs: 15_000 };
const fresh: Trial = { healthyMs: 0, unhealthyMs: 0, exits: 0 };

/**
 * What was seen, oldest first: `5+` a probe 5 s after the last one that found health, `5-` one that did not, `5.` one while the
 * kubelet's unit was not active, `x` an exit of its own, `a` one that systemd asked for.
 */
function run(saw: string, from: Trial = fresh, start = 1_000_000): Trial {
  let [trial, at] = [from, start];
  for (const word of saw.split(' ').filter(Boolean)) {
    if (word === 'x' || word === 'a') trial = nextTrial(trial, { kind: 'exited', counts: word === 'x' }, limits);
    else {
      at += Number(word.slice(0, -1)) * 1000;
      trial = nextTrial(trial, { kind: 'probed', at, healthy: !word.endsWith('-'), running: !word.endsWith('.') }, limits);
    }
  }
  return trial;
}

const health = Array.from({ length: 12 }, () => '5+').join(' ');
const sickness = Array.from({ length: 6 }, () => '5-').join(' ');

// prettier-ignore
const cases = [
  { why: 'sums health between probes', saw: '0+ 5+ 5+', is: 'open', healthyMs: 10_000 },
  { why: 'passes after enough health', saw: `0+ ${health}`, is: 'passed', healthyMs: 60_000 },
  { why: 'does not count the way back to health as health', saw: '0- 5+', is: 'open', healthyMs: 0 },
  { why: 'begins anew after an exit that was asked for, and does not count that', saw: '0+ 5+ 5+ a 5+', is: 'open', healthyMs: 5_000, exits: 0 },
  { why: 'starts again after it exited by itself, and goes on', saw: '0+ 5+ 5+ x 5+', is: 'open', healthyMs: 5_000, exits: 1 },
  { why: 'fails at the third exit', saw: 'x x x', is: 'failed', exits: 3 },
  { why: 'fails after too long without health', saw: `0- ${sickness}`, is: 'failed' },
  { why: 'wants the time without health on end', saw: `0- ${sickness.slice(3)} 5+ 5- 5-`, is: 'open' },
  { why: 'does not count time in which the unit was not active', saw: `0. ${sickness.replaceAll('-', '.')} ${sickness.replaceAll('-', '.')}`, is: 'open', healthyMs: 0 },
  { why: 'takes a long gap for no more than it may stand for', saw: '0+ 3600+', is: 'open', healthyMs: 15_000 },
  { why: 'fails rather than passes when both are due', saw: `0+ ${health} x x x`, is: 'failed' },
] as const;

for (const c of cases)
  test(`a trial ${c.why}`, () => {
    const trial = run(c.saw);
    assert.equal(verdictOn(trial, limits).is, c.is);
    for (const name of ['healthyMs', 'unhealthyMs', 'exits'] as const) if (name in c) assert.equal(trial[name], (c as Partial<Trial>)[name], name); // prettier-ignore
  });

test('boots without a clean stop count as exits, beside those of this boot', () => {
  const trial = { ...fresh, uncleanBoots: 1 };
  assert.deepEqual(verdictOn(run('x', trial), limits), { is: 'open' });
  const reason = 'kubelet exited 2 times and the machine went down 1 time without a clean stop';
  assert.deepEqual(verdictOn(run('x x', trial), limits), { is: 'failed', reason });
  assert.deepEqual(verdictOn({ ...fresh, uncleanBoots: 3 }, limits), {
    is: 'failed',
    reason: 'the machine went down 3 times without a clean stop',
  });
});

const start: TrialStart = { source: source('web@2'), content: content('A'), now: '2026-03-01T01:00:00Z', boot: { bootId: 'b1', stoppedIn: undefined }, exitsOffset: 700 }; // prettier-ignore
const old: TrialRecord = {
  source: source('web@1'),
  ...content('A'),
  assignedAt: '2026-03-01T00:00:00Z',
  healthyMs: 240_000,
  unhealthyMs: 9_000,
  exits: 2,
  evidence: ['exited with status 1', 'exited with status 2'],
  exitsOffset: 300,
  bootId: 'b1',
};

// prettier-ignore
const moves: { why: string; old: TrialRecord | undefined; start?: Partial<TrialStart>; is: { [K in keyof TrialRecord]?: TrialRecord[K] | undefined } }[] = [
  { why: 'begins with nothing, and past exits that are not its own', old: undefined, is: { assignedAt: start.now, healthyMs: 0, unhealthyMs: 0, exits: 0, exitsOffset: 700 } },
  { why: 'goes on over a restart of the agent', old, is: { assignedAt: old.assignedAt, healthyMs: 240_000, unhealthyMs: 9_000, exits: 2, evidence: old.evidence, exitsOffset: 300 } },
  { why: 'counts a boot that no clean stop went before, and sets health back', old, start: { boot: { bootId: 'b2', stoppedIn: undefined } }, is: { healthyMs: 0, uncleanBoots: 1, exits: 0, exitsOffset: 0, bootId: 'b2' } },
  { why: 'counts a boot after one that went on after its clean stop was noted in an earlier one', old: { ...old, uncleanBoots: 1 }, start: { boot: { bootId: 'b3', stoppedIn: 'b0' } }, is: { healthyMs: 0, uncleanBoots: 2 } },
  { why: 'begins anew with other content', old, start: { content: content('B') }, is: { assignedAt: start.now, healthyMs: 0, exits: 0, exitsOffset: 700 } },
  { why: 'keeps health and drops exits in a boot after a clean stop', old, start: { boot: { bootId: 'b2', stoppedIn: 'b1' } }, is: { healthyMs: 240_000, unhealthyMs: 0, exits: 0, evidence: undefined, exitsOffset: 0, bootId: 'b2', assignedAt: old.assignedAt } },
];

for (const c of moves)
  test(`a trial record ${c.why}`, () => {
    const record = openRecord(c.old, { ...start, ...c.start });
    const seen = Object.fromEntries(Object.keys(c.is).map((name) => [name, record[name as keyof TrialRecord]]));
    assert.deepEqual(seen, c.is);
  });
