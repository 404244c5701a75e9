import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstStanding, type Moment, next, plan, rules, type Saw, type Settings, type Standing } from '../../../../kube/election/next.ts';
import type { Lease, LeaseSpec } from '../../../../kube/election/lease.ts';

const settings: Settings = { identity: 'me', leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, rules };
const moment = (s: number, wall = s): Moment => ({ monotonic: s * 1_000, wall: wall * 1_000 });
const lease = (spec: LeaseSpec, rv = '1'): Lease => ({ metadata: { name: 'l', uid: 'u', resourceVersion: rv }, spec });
const held = (by: string, renewTime = 'r1', rv = '1', leaseDurationSeconds = 15): Lease =>
  lease({ holderIdentity: by, renewTime, leaseDurationSeconds }, rv);
const found = (s: number, what: Lease | undefined): Saw => ({ kind: 'found', lease: what, at: moment(s) });
const after = (...saws: Saw[]): Standing => saws.reduce((standing, saw) => next(standing, saw, settings), firstStanding);
const waited = (s: number, wall?: number): Saw => ({ kind: 'waited', at: moment(s, wall) });
const wrote = (from: number, at: number, what = held('me')): Saw => ({ kind: 'wrote', lease: what, from: moment(from), at: moment(at) });
const led = (...saws: Saw[]): Standing => after(found(0, undefined), wrote(0, 0.1), ...saws);

const candidates: { why: string; saws: Saw[]; at: number; wall?: number; jitter?: number; step: string }[] = [
  { why: 'looks first', saws: [], at: 0, step: 'look' },
  { why: 'makes a lease that was never there', saws: [found(0, undefined)], at: 0, step: 'take' },
  { why: 'takes one that was released', saws: [found(0, held(''))], at: 0, step: 'take' },
  { why: 'takes one with an empty spec after its own duration', saws: [found(0, lease({ holderIdentity: 'a' }))], at: 15, step: 'take' },
  {
    why: 'leaves one that it has just seen, however old it says it is',
    saws: [found(0, held('a', '1970-01-01T00:00:00.000000Z'))],
    at: 0,
    step: 'wait 2000',
  },
  { why: 'waits up to 2.2 periods', saws: [found(0, held('a'))], at: 0, jitter: 1, step: 'wait 4400' },
  { why: 'waits no longer than the lease stands', saws: [found(0, held('a'))], at: 14, step: 'wait 1000' },
  { why: 'takes what stood still for its duration', saws: [found(0, held('a'))], at: 15, step: 'take' },
  { why: "waits by the record's duration, not its own", saws: [found(0, held('a', 'r1', '1', 60))], at: 59, step: 'wait 1000' },
  {
    why: 'counts from the first look that saw the record',
    saws: [found(0, held('a')), waited(14), found(14, held('a'))],
    at: 15,
    step: 'take',
  },
  {
    why: 'counts anew after a renewal',
    saws: [found(0, held('a')), waited(14), found(14, held('a', 'r2', '2'))],
    at: 28,
    step: 'wait 1000',
  },
  {
    why: 'takes a label for no sign of life',
    saws: [found(0, held('a')), waited(14), found(14, held('a', 'r1', '2'))],
    at: 15,
    step: 'take',
  },
  {
    why: 'waits for a holder whose lease was deleted',
    saws: [found(0, held('a')), waited(14), found(14, undefined)],
    at: 28,
    step: 'wait 1000',
  },
  { why: 'and makes it then', saws: [found(0, held('a')), waited(14), found(14, undefined)], at: 29, step: 'take' },
  { why: 'looks again after a wait', saws: [found(0, held('a')), waited(2)], at: 2, step: 'look' },
  { why: 'rests after a failed look', saws: [{ kind: 'failed', at: moment(0) }], at: 0, step: 'wait 2000' },
  { why: 'rests after another was faster', saws: [found(0, held('')), { kind: 'refused', at: moment(0) }], at: 0, step: 'wait 2000' },
  { why: 'waits for a namesake, who may be alive', saws: [found(0, held('me'))], at: 1, step: 'wait 2000' },
  {
    why: 'knows its own write by a lost answer',
    saws: [found(0, held('')), { kind: 'failed', at: moment(0) }, waited(2), found(2, held('me'))],
    at: 2,
    step: 'take',
  },
  { why: 'does not trust a wall clock set forward', saws: [found(0, held('a'))], at: 1, wall: 90_000, step: 'wait 2000' },
];
for (const { why, saws, at, wall, jitter = 0, step } of candidates) {
  test(`a candidate ${why}`, () => {
    const planned = plan(after(...saws), moment(at, wall), jitter, settings);
    assert.equal('ms' in planned ? `${planned.do} ${planned.ms}` : planned.do, step);
  });
}

const leaders: { why: string; saws: Saw[]; at: string; due?: number }[] = [
  { why: 'leads by a write that counted, and renews a period after that began', saws: [], at: 'leading', due: 2 },
  { why: 'counts from before the renewal was sent', saws: [wrote(2, 9)], at: 'leading', due: 4 },
  { why: 'has lost when an answer took longer than the deadline', saws: [wrote(2, 12)], at: 'lost' },
  { why: 'goes on after a failure', saws: [{ kind: 'failed', at: moment(3) }], at: 'leading', due: 5 },
  { why: 'has lost at the deadline', saws: [{ kind: 'failed', at: moment(9) }, waited(10)], at: 'lost' },
  { why: 'has not lost just before it', saws: [waited(9.99)], at: 'leading', due: 2 },
  { why: 'has lost after a suspension, by the wall clock', saws: [waited(1, 61)], at: 'lost' },
  { why: 'is not impressed by a wall clock set back', saws: [waited(9, -9_000)], at: 'leading', due: 2 },
  { why: 'looks when a renewal is refused', saws: [{ kind: 'refused', at: moment(2) }], at: 'doubting', due: 2 },
  {
    why: 'renews at once when it finds its own',
    saws: [{ kind: 'refused', at: moment(2) }, found(2.1, held('me', 'r1', '9'))],
    at: 'leading',
    due: 2.1,
  },
  { why: 'is made no surer by a look', saws: [{ kind: 'refused', at: moment(9) }, found(9.5, held('me')), waited(10)], at: 'lost' },
  { why: "has lost when it finds another's", saws: [{ kind: 'refused', at: moment(2) }, found(2.1, held('a'))], at: 'lost' },
  { why: "has lost when it finds nobody's", saws: [{ kind: 'refused', at: moment(2) }, found(2.1, held(''))], at: 'lost' },
  { why: 'has lost when the lease was deleted', saws: [{ kind: 'refused', at: moment(2) }, found(2.1, undefined)], at: 'lost' },
  {
    why: 'doubts on after a failed look',
    saws: [
      { kind: 'refused', at: moment(2) },
      { kind: 'failed', at: moment(3) },
    ],
    at: 'doubting',
    due: 5,
  },
  { why: 'who has lost never comes back', saws: [waited(10), wrote(11, 11.1), found(12, held('me'))], at: 'lost' },
];
for (const { why, saws, at, due } of leaders) {
  test(`a leader ${why}`, () => {
    const standing = led(...saws);
    assert.equal(standing.at, at);
    if (due !== undefined && 'due' in standing) assert.ok(Math.abs(standing.due - due * 1_000) < 1e-6, `due at ${standing.due}`);
  });
}

test('a renewal goes over the version that was found', () => {
  const step = plan(led({ kind: 'refused', at: moment(2) }, found(2, held('me', 'r1', '9'))), moment(2), 0, settings);
  assert.equal(step.do === 'renew' && step.lease.metadata.resourceVersion, '9');
});
