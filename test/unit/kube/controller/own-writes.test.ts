import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import { Expectations } from '../../../../kube/controller/expectations.ts';
import { holdBack, OwnWrites } from '../../../../kube/controller/own-writes.ts';
import type { SeenCache } from '../../../../kube/controller/own-writes.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const pods: Resource = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const sets: Resource = { group: 'apps', version: 'v1', resource: 'statefulsets', kind: 'StatefulSet', namespaced: true };
const LIMIT = 300_000;

/** `web-0/uid@12`, with ! when it is being deleted. */
function object(text: string): KubeObject {
  const [, name = '', uid = '', resourceVersion = '', mark] = /^([^/]+)\/([^@]+)@([^!]+)(!?)$/.exec(text) ?? [];
  return {
    metadata: { namespace: 'ns', name, uid, resourceVersion, ...(mark === '!' ? { deletionTimestamp: '2026-03-01T00:00:00Z' } : {}) },
  };
}

/** `12: web-0/a@10 web-1/b@12`: the version up to which the cache knows everything, and what it holds. */
function cache(text: string, resource = pods): SeenCache {
  const [version = '', held = ''] = text.split(':');
  const objects = new Map(
    held
      .split(' ')
      .filter(Boolean)
      .map((one) => [objectKey(object(one)), object(one)]),
  );
  return { resource, version, get: (key) => objects.get(key) };
}

/** The cache before what was written and deleted, and after it. */
const cases = table('before | wrote | deleted | after | caught up | why')(`
  5:           |                     |           | 5:             | yes | nothing was written
  5:           | web-0/a@9           |           | 8:             | no  | the cache is older
  5:           | web-0/a@9           |           | 9: web-0/a@9   | yes | the cache reached the write
  98:          | web-0/a@100         |           | 99:            | no  | versions are as many digits short
  5:           | web-0/a@9           |           | 6: web-0/a@9   | yes | the object is there, though the cache as a whole lags
  5: web-0/a@5 | web-0/a@9           |           | 8: web-0/a@5   | no  | the object is there in an older state
  5:           | web-0/a@7 web-1/b@9 |           | 7: web-0/a@7   | no  | only the older of two writes is there
  5:           | web-0/a@7 web-1/b@9 |           | 8: web-1/b@9   | yes | the newest of two writes is there
  5: web-0/o@3 | web-0/a@9           |           | 6: web-0/o@6   | no  | the cache still shows the one before it
  :            | web-0/a@9           |           | :              | no  | there is no list yet
  x:           | web-0/a@y           |           | z: web-0/a@y   | yes | opaque: the state is there
  x: web-0/a@x | web-0/a@y           |           | z: web-0/a@x   | no  | opaque: the state is another
  x: web-0/a@x | web-0/a@y           |           | z:             | yes | opaque: it was there and is gone
  x:           | web-0/a@y           |           | z:             | no  | opaque: it is new and not there
  5: web-0/a@5 |                     | web-0/a@5 | 9: web-0/a@5   | no  | a deletion is not there
  5: web-0/a@5 |                     | web-0/a@5 | 9: web-0/a@9!  | yes | a deletion is marked
  5: web-0/a@5 |                     | web-0/a@5 | 9:             | yes | a deletion is done
  5: web-0/a@5 |                     | web-0/a@5 | 9: web-0/b@9   | yes | what was deleted is there again
`);

for (const { why, before, wrote, deleted, after, ...row } of cases) {
  const caughtUp = row['caught up'] === 'yes';
  test(`caches have ${caughtUp ? '' : 'not '}caught up when ${why}`, () => {
    const writes = new OwnWrites(new FakeClock());
    for (const one of wrote.split(' ').filter(Boolean)) writes.wrote('ns/web', cache(before), object(one));
    if (deleted !== '') writes.deleted('ns/web', cache(before), object(deleted));
    assert.equal(writes.caughtUp('ns/web', [cache(after)]), caughtUp);
    assert.equal(writes.size, caughtUp ? 0 : 1);
  });
}

test('every kind that was written must have caught up', () => {
  const writes = new OwnWrites(new FakeClock());
  writes.wrote('ns/web', cache('5:'), object('web-0/a@9'));
  writes.wrote('ns/web', cache('5:', sets), object('web/s@10'));
  assert.equal(writes.caughtUp('ns/web', [cache('9:'), cache('9:', sets)]), false);
  assert.equal(writes.caughtUp('ns/web', [cache('1:'), cache('10:', sets)]), true, 'pods were seen before, and stay seen');
});

test('a version that never comes holds nobody for ever', async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const writes = new OwnWrites(clock, {
    limitMs: LIMIT,
    metrics: { heldBack: () => told.push('held'), gaveUp: () => told.push('gave up') },
  });
  writes.wrote('ns/web', cache('5000:'), object('web-0/a@5001'));
  await clock.advance(1_000);
  writes.wrote('ns/web', cache('5000:'), object('web-1/b@5002'));
  // The store came back from a backup: versions count from lower down.
  assert.equal(writes.caughtUp('ns/web', [cache('4000:')]), false);
  assert.equal(writes.requeueAfter('ns/web'), 1_000, 'an event may never come');
  await clock.advance(LIMIT - 1);
  assert.equal(writes.caughtUp('ns/web', [cache('4100:')]), false);
  assert.equal(writes.requeueAfter('ns/web'), 1);
  await clock.advance(1);
  assert.equal(writes.caughtUp('ns/web', [cache('4100:')]), true);
  assert.deepEqual(told, ['held', 'held', 'gave up']);
  assert.equal(writes.size, 0);
});

for (const [why, written, expected, requeueAfter, says] of [
  ['nothing for who has done nothing', false, false],
  ['a second for what was written', true, false, 1_000, 'own writes are not seen yet'],
  ['the end of what is expected', false, true, 300_000, 'creations or deletions are not seen yet'],
  ['own writes first', true, true, 1_000, 'own writes are not seen yet'],
] as const)
  test(`holding back waits for ${why}`, () => {
    const clock = new FakeClock();
    const expectations = new Expectations(clock);
    const ownWrites = new OwnWrites(clock);
    const old = cache('5:');
    if (written) ownWrites.wrote('ns/web', old, object('web-0/a@9'));
    const pass = expectations.expect('ns/web', { creations: expected ? 1 : 0, deletions: [] });
    const held = requeueAfter === undefined ? undefined : { requeueAfter, why: says };
    assert.deepEqual(holdBack('ns/web', { expectations, ownWrites, caches: [old] }), held);
    assert.equal(holdBack('ns/other', { expectations, ownWrites, caches: [old] }), undefined);
    if (expected) pass.notCreated();
    assert.equal(holdBack('ns/web', { expectations, ownWrites, caches: [cache('9:')] }), undefined);
  });

test('an owner that is gone leaves nothing behind, told or not', async () => {
  const clock = new FakeClock();
  const writes = new OwnWrites(clock);
  for (const owner of ['ns/web', 'ns/late']) writes.wrote(owner, cache('5:'), object('web-0/a@9'));
  writes.forget('ns/web');
  assert.equal(writes.size, 1);
  await clock.advance(LIMIT);
  writes.wrote('ns/new', cache('5:'), object('web-0/a@9'));
  assert.equal(writes.size, 1);
});
