import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRecord, trialOf, type TrialStart } from '../../../../agent/trial/record.ts';
import type { TrialRecord } from '../../../../agent/store/store.ts';
import { content, source } from '../../../support/builders.ts';

const start: TrialStart = {
  source: source('web@2'),
  content: content('A'),
  now: '2026-03-01T01:00:00Z',
  boot: { bootId: 'b1', stoppedIn: undefined },
  exitsOffset: 700,
};
const old: TrialRecord = {
  source: source('web@1'),
  ...content('A'),
  assignedAt: '2026-03-01T00:00:00Z',
  healthyMs: 240_000,
  unhealthyMs: 9_000,
  exits: 2,
  exitsOffset: 300,
  bootId: 'b1',
};

// prettier-ignore
const cases: { why: string; old: TrialRecord | undefined; start?: Partial<TrialStart>; is: Partial<TrialRecord> }[] = [
  { why: 'begins with nothing, and past exits that are not its own', old: undefined, is: { assignedAt: start.now, healthyMs: 0, unhealthyMs: 0, exits: 0, exitsOffset: 700 } },
  { why: 'goes on over a restart of the agent', old, is: { assignedAt: old.assignedAt, healthyMs: 240_000, unhealthyMs: 9_000, exits: 2, exitsOffset: 300 } },
  { why: 'goes on under a new name of the same content', old, is: { source: source('web@2'), healthyMs: 240_000 } },
  { why: 'counts a boot that no clean stop went before, and sets health back', old, start: { boot: { bootId: 'b2', stoppedIn: undefined } }, is: { healthyMs: 0, uncleanBoots: 1, exits: 0, exitsOffset: 0, bootId: 'b2' } },
  { why: 'counts a boot after one that went on after its clean stop was noted in an earlier one', old: { ...old, uncleanBoots: 1 }, start: { boot: { bootId: 'b3', stoppedIn: 'b0' } }, is: { healthyMs: 0, uncleanBoots: 2 } },
  { why: 'keeps what it counted over a clean reboot', old: { ...old, uncleanBoots: 2 }, start: { boot: { bootId: 'b2', stoppedIn: 'b1' } }, is: { healthyMs: 240_000, uncleanBoots: 2 } },
  { why: 'counts no boot where the kernel does not name it', old, start: { boot: { bootId: '', stoppedIn: undefined } }, is: { healthyMs: 240_000, exits: 2, bootId: 'b1' } },
  { why: 'begins anew with other content', old, start: { content: content('B') }, is: { assignedAt: start.now, healthyMs: 0, exits: 0, exitsOffset: 700 } },
  { why: 'begins anew with another key', old, start: { content: content('A', 'other') }, is: { healthyMs: 0, exits: 0 } },
  { why: 'keeps health and drops exits in a boot after a clean stop', old, start: { boot: { bootId: 'b2', stoppedIn: 'b1' } }, is: { healthyMs: 240_000, unhealthyMs: 0, exits: 0, exitsOffset: 0, bootId: 'b2', assignedAt: old.assignedAt } },
];

for (const c of cases)
  test(`a trial record ${c.why}`, () => {
    const record = openRecord(c.old, { ...start, ...c.start });
    const seen = Object.fromEntries(Object.keys(c.is).map((name) => [name, record[name as keyof TrialRecord]]));
    assert.deepEqual(seen, c.is);
  });

test('a record of an older agent, without time without health, reads as none', () => {
  const { unhealthyMs: _dropped, ...older } = old;
  assert.deepEqual(trialOf(older), { healthyMs: 240_000, unhealthyMs: 0, exits: 2 });
});
