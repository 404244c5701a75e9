import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  initialState,
  type ClockReading,
  next,
  plan,
  rules,
  type Saw,
  type Settings,
  type ElectionState,
} from '../../../../kube/election/next.ts';
import {
  type Lease,
  type LeaseSpec,
  firstLease,
  microTime,
  releasedLease,
  renewedLease,
  takenLease,
} from '../../../../kube/election/lease.ts';

const settings: Settings = { identity: 'me', leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, rules };
const moment = (s: number, wall = s): ClockReading => ({ monotonic: s * 1_000, wall: wall * 1_000 });
const lease = (spec: LeaseSpec, rv = '1'): Lease => ({ metadata: { name: 'l', uid: 'u', resourceVersion: rv }, spec });
const held = (by: string, renewTime = 'r1', rv = '1', leaseDurationSeconds = 15): Lease =>
  lease({ holderIdentity: by, renewTime, leaseDurationSeconds }, rv);
const found = (s: number, what: Lease | undefined): Saw => ({ kind: 'found', lease: what, at: moment(s) });
const after = (...saws: Saw[]): ElectionState => saws.reduce((standing, saw) => next(standing, saw, settings), initialState);
const waited = (s: number, wall?: number): Saw => ({ kind: 'waited', at: moment(s, wall) });
const wrote = (from: number, at: number, what = held('me')): Saw => ({ kind: 'wrote', lease: what, from: moment(from), at: moment(at) });
const failed = (s: number): Saw => ({ kind: 'failed', at: moment(s) });
const refused = (s: number): Saw => ({ kind: 'refused', at: moment(s) });
const led = (...saws: Saw[]): ElectionState => after(found(0, undefined), wrote(0, 0.1), ...saws);

function planned(now: ClockReading, jitter: number, ...saws: Saw[]): string {
  const step = plan(after(...saws), now, jitter, settings);
  return 'ms' in step ? `${step.do} ${step.ms}` : step.do;
}

const candidates: [why: string, step: string, now: ClockReading, ...saws: Saw[]][] = [
  ['looks first', 'look', moment(0)],
  ['makes a lease that was never there', 'take', moment(0), found(0, undefined)],
  ['takes one that was released', 'take', moment(0), found(0, held(''))],
  ['takes one with an empty spec after its own duration', 'take', moment(15), found(0, lease({ holderIdentity: 'a' }))],
  ['leaves one just seen, however old it says it is', 'wait 2000', moment(0), found(0, held('a', '1970-01-01T00:00:00.000000Z'))],
  ['waits no longer than the lease stands', 'wait 1000', moment(14), found(0, held('a'))],
  ['takes what stood still for its duration', 'take', moment(15), found(0, held('a'))],
  ["waits by the record's duration, not its own", 'wait 1000', moment(59), found(0, held('a', 'r1', '1', 60))],
  ['counts from the first look that saw the record', 'take', moment(15), found(0, held('a')), waited(14), found(14, held('a'))],
  ['counts anew after a renewal', 'wait 1000', moment(28), found(0, held('a')), waited(14), found(14, held('a', 'r2', '2'))],
  ['takes a label for no sign of life', 'take', moment(15), found(0, held('a')), waited(14), found(14, held('a', 'r1', '2'))],
  ['waits for a holder whose lease was deleted', 'wait 1000', moment(28), found(0, held('a')), waited(14), found(14, undefined)],
  ['and makes it then', 'take', moment(29), found(0, held('a')), waited(14), found(14, undefined)],
  ['looks again after a wait', 'look', moment(2), found(0, held('a')), waited(2)],
  ['rests after a failed look', 'wait 2000', moment(0), failed(0)],
  ['rests after another was faster', 'wait 2000', moment(0), found(0, held('')), refused(0)],
  ['waits for a namesake, who may be alive', 'wait 2000', moment(1), found(0, held('me'))],
  ['knows its own write by a lost answer', 'take', moment(2), found(0, held('')), failed(0), waited(2), found(2, held('me'))],
  ['does not trust a wall clock set forward', 'wait 2000', moment(1, 90_000), found(0, held('a'))],
];
for (const [why, step, now, ...saws] of candidates) {
  test(`a candidate ${why}`, () => assert.equal(planned(now, 0, ...saws), step));
}

test('a candidate waits up to 2.2 periods', () => assert.equal(planned(moment(0), 1, found(0, held('a'))), 'wait 4400'));

const leaders: [why: string, at: string, ...saws: Saw[]][] = [
  ['leads by a write that counted, and renews a period after that began', 'leading, due 2'],
  ['counts from before the renewal was sent', 'leading, due 4', wrote(2, 9)],
  ['has lost when an answer took longer than the deadline', 'lost', wrote(2, 12)],
  ['goes on after a failure', 'leading, due 5', failed(3)],
  ['has lost at the deadline', 'lost', failed(9), waited(10)],
  ['has not lost just before it', 'leading, due 2', waited(9.99)],
  ['has lost after a suspension, by the wall clock', 'lost', waited(1, 61)],
  ['is not impressed by a wall clock set back', 'leading, due 2', waited(9, -9_000)],
  ['has lost at the deadline, also with a wall clock set back', 'lost', waited(10, -9_000)],
  ['looks when a renewal is refused', 'doubting, due 2', refused(2)],
  ['renews at once when it finds its own', 'leading, due 2.1', refused(2), found(2.1, held('me', 'r1', '9'))],
  ['is made no surer by a look', 'lost', refused(9), found(9.5, held('me')), waited(10)],
  ["has lost when it finds another's", 'lost', refused(2), found(2.1, held('a'))],
  ["has lost when it finds nobody's", 'lost', refused(2), found(2.1, held(''))],
  ['has lost when the lease was deleted', 'lost', refused(2), found(2.1, undefined)],
  ['doubts on after a failed look', 'doubting, due 5', refused(2), failed(3)],
  ['who has lost never comes back', 'lost', waited(10), wrote(11, 11.1), found(12, held('me'))],
];
for (const [why, at, ...saws] of leaders)
  test(`a leader ${why}`, () => {
    const standing = led(...saws);
    assert.equal('due' in standing ? `${standing.at}, due ${Math.round(standing.due) / 1_000}` : standing.at, at);
  });

test('a renewal goes over the version that was found', () => {
  const step = plan(led(refused(2), found(2, held('me', 'r1', '9'))), moment(2), 0, settings);
  assert.equal(step.do === 'renew' && step.lease.metadata.resourceVersion, '9');
});

const NOW = Date.parse('2026-03-01T10:00:00.250Z');
const acquireTime = '2026-03-01T10:00:00.250000Z';
const claim = { identity: 'me', leaseDurationMs: 1_500, nowMs: NOW };
const kind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
const there: Lease = {
  ...kind,
  metadata: { name: 'l', namespace: 'n', uid: 'u', resourceVersion: '7', labels: { team: 'x' }, annotations: { note: 'y' } },
  spec: { ...held('old').spec, acquireTime: 'a', leaseTransitions: 3, strategy: 'OldestEmulationVersion' },
};

test('a first lease has no version, whole seconds rounded up and no transitions', () => {
  const metadata = { namespace: 'n', name: 'l' };
  const spec = { holderIdentity: 'me', leaseDurationSeconds: 2, acquireTime, renewTime: acquireTime, leaseTransitions: 0 };
  assert.deepEqual(firstLease(metadata, claim), { ...kind, metadata, spec });
});

test("a taken lease keeps its version and everybody else's fields, a renewal when it was taken and how often", () => {
  const taken = takenLease(there, claim);
  assert.deepEqual(taken.metadata, there.metadata);
  const ours = { holderIdentity: 'me', acquireTime, leaseTransitions: 4, leaseDurationSeconds: 2 };
  assert.deepEqual(taken.spec, { ...there.spec, ...ours, renewTime: acquireTime });
  const { spec } = renewedLease(taken, { ...claim, nowMs: NOW + 2_000 });
  assert.deepEqual(spec, { ...there.spec, ...ours, renewTime: '2026-03-01T10:00:02.250000Z' });
});

test('a renewal changes the lease although the clock stands still or was set back', () => {
  for (const [last, renewTime] of [
    ['2026-03-01T10:00:00.250000Z', '2026-03-01T10:00:00.250001Z'],
    ['2026-03-01T11:00:00.999999Z', '2026-03-01T11:00:01.000000Z'],
  ]) {
    const before = { ...there, spec: { ...there.spec, renewTime: last ?? '' } };
    assert.equal(renewedLease(before, claim).spec?.renewTime, renewTime);
  }
});

test('a released lease names nobody, for a second', () => {
  const { spec } = releasedLease(there, NOW);
  assert.deepEqual([spec?.holderIdentity, spec?.leaseDurationSeconds, spec?.leaseTransitions], ['', 1, 3]);
});

test('a MicroTime has six digits', () => assert.equal(microTime(NOW + 0.5), '2026-03-01T10:00:00.250500Z'));
