import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import { Expectations } from '../../../../kube/controller/expectations.ts';
import { holdBack, OwnWrites } from '../../../../kube/controller/own-writes.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const object = (resourceVersion: string): KubeObject => ({ metadata: { name: 'a', namespace: 'x', uid: 'u', resourceVersion } });
const cacheAt = (version: string) => ({ resource: configMaps, version, get: () => object(version) });

for (const { why, written, expected, says } of [
  { why: 'nothing for who has done nothing', written: false, expected: false, says: undefined },
  {
    why: 'a second for what was written',
    written: true,
    expected: false,
    says: { requeueAfter: 1_000, why: 'own writes are not seen yet' },
  },
  {
    why: 'the end of what is expected',
    written: false,
    expected: true,
    says: { requeueAfter: 300_000, why: 'creations or deletions are not seen yet' },
  },
  { why: 'own writes first', written: true, expected: true, says: { requeueAfter: 1_000, why: 'own writes are not seen yet' } },
]) {
  test(`holding back waits for ${why}`, () => {
    const clock = new FakeClock();
    const expectations = new Expectations(clock);
    const ownWrites = new OwnWrites(clock);
    const old = cacheAt('5');
    if (written) ownWrites.wrote('x/o', old, object('9'));
    const pass = expectations.expect('x/o', { creations: expected ? 1 : 0, deletions: [] });
    assert.deepEqual(holdBack('x/o', { expectations, ownWrites, caches: [old] }), says);
    assert.equal(holdBack('x/other', { expectations, ownWrites, caches: [old] }), undefined);
    if (expected) pass.notCreated();
    assert.equal(holdBack('x/o', { expectations, ownWrites, caches: [cacheAt('9')] }), undefined);
  });
}

test('a kind that was written and is not among the caches is a mistake that shows', () => {
  const clock = new FakeClock();
  const ownWrites = new OwnWrites(clock);
  ownWrites.wrote('x/o', cacheAt('5'), object('9'));
  assert.throws(() => holdBack('x/o', { expectations: new Expectations(clock), ownWrites, caches: [] }), RangeError);
});
