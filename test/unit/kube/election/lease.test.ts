import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstLease, microTime, releasedLease, renewedLease, takenLease, type Lease } from '../../../../kube/election/lease.ts';

const NOW = Date.parse('2026-03-01T10:00:00.250Z');
const claim = { identity: 'me', leaseDurationMs: 1_500, nowMs: NOW };
const there: Lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'l', namespace: 'n', uid: 'u', resourceVersion: '7', labels: { team: 'x' }, annotations: { note: 'y' } },
  spec: {
    holderIdentity: 'old',
    acquireTime: 'a',
    renewTime: 'r',
    leaseTransitions: 3,
    leaseDurationSeconds: 15,
    strategy: 'OldestEmulationVersion',
  },
};

test('a first lease has no version, whole seconds rounded up and no transitions', () => {
  assert.deepEqual(firstLease({ namespace: 'n', name: 'l' }, claim), {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'n', name: 'l' },
    spec: {
      holderIdentity: 'me',
      leaseDurationSeconds: 2,
      acquireTime: '2026-03-01T10:00:00.250000Z',
      renewTime: '2026-03-01T10:00:00.250000Z',
      leaseTransitions: 0,
    },
  });
});

test("a taken lease keeps its version and everybody else's fields, a renewal when it was taken and how often", () => {
  const taken = takenLease(there, claim);
  assert.deepEqual(taken.metadata, there.metadata);
  const acquireTime = '2026-03-01T10:00:00.250000Z';
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
