import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, pods, statefulSets as sets } from '../../../../kube/api/object.ts';
import { apiErrorFrom } from '../../../../kube/client/errors.ts';
import { Expectations, type Pass } from '../../../../kube/controller/expectations.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { table } from '../../../support/table.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import { holdBack, OwnWrites, type SeenCache } from '../../../../kube/controller/own-writes.ts';

const TTL = 300_000;

// A story is words: what the pass began with, then what its calls said and what the watch showed, in that order.
// +a created, ~ lost, x refused, 8x eight refused, -a not deleted; see:a the watch shows a, gone:a the watch shows that a is terminating or deleted.
const stories = table('creates | deletes | story | satisfied | why')(`
  0 |     |                 | yes | nothing was to be done
  1 |     |                 | no  | a call is under way
  1 |     | +a see:a        | yes | the watch came after the answer
  1 |     | see:a +a        | yes | the watch came before the answer
  1 |     | +a see:z        | no  | the watch showed what somebody else made
  2 |     | +a +b see:a see:a | no | one event came twice
  1 |     | x               | yes | the server refused
  1 |     | ~               | no  | an answer was lost
  1 |     | ~ see:a         | yes | what a lost answer made was seen later
  1 |     | see:a gone:a ~  | yes | what a lost answer made came and went
  2 |     | see:a ~ ~ see:a | no  | two answers were lost and one object seen before and after
  2 |     | see:a +a ~      | no  | what is seen of a known one settles no lost one
  2 |     | gone:z +a see:a ~ | no | a deletion by somebody else settles no lost one
  1 |     | +a gone:a       | yes | a new object was going when it was first seen
  1 |     | gone:a +a       | yes | a new object was going before its answer came
  0 | a   |                 | no  | a deletion is not seen
  0 | a   | gone:a          | yes | a deletion is seen
  0 | a b | gone:a gone:a   | no  | one deletion was seen at the mark and at the removal
  0 | a   | -a              | yes | the deletion was refused
`);

function act(word: string, pass: Pass, expectations: Expectations, key = 'ns/ds'): void {
  const [verb = '', uid = ''] = word.includes(':') ? word.split(':') : [word.slice(0, 1), word.slice(1)];
  if (verb === 'see') expectations.creationSeen(key, uid);
  else if (verb === 'gone') expectations.deletionSeen(key, uid);
  else if (verb === '+') pass.created(uid);
  else if (verb === '~') pass.lost();
  else if (verb === '-') pass.notDeleted(uid);
  else pass.notCreated(verb === 'x' ? 1 : Number(verb));
}

for (const { why, creates, deletes, story, satisfied } of stories)
  test(`expectations are ${satisfied === 'yes' ? '' : 'not '}satisfied when ${why}`, () => {
    const expectations = new Expectations(new FakeClock());
    const pass = expectations.expect('ns/ds', { creations: Number(creates), deletions: deletes.split(' ').filter(Boolean) });
    for (const word of story.split(' ').filter(Boolean)) act(word, pass, expectations);
    assert.equal(expectations.size, satisfied === 'yes' ? 0 : 1);
    assert.equal(expectations.expiresIn('ns/ds') === undefined, satisfied === 'yes');
  });

test('expectations end after their time, which says when to wake the owner', async () => {
  const clock = new FakeClock();
  const told: unknown[] = [];
  const expectations = new Expectations(clock, { ttlMs: TTL, onExpired: (key, missing) => told.push([key, missing]) });
  const pass = expectations.expect('ns/ds', { creations: 1, deletions: ['d'] });
  pass.created('a');
  expectations.expect('ns/other', { creations: 2, deletions: [] });
  assert.equal(expectations.expiresIn('ns/ds'), TTL);
  await clock.advance(TTL - 1);
  assert.equal(expectations.expiresIn('ns/ds'), 1);
  await clock.advance(1);
  assert.equal(expectations.expiresIn('ns/ds'), undefined);
  // Nobody asks about the other one: the next pass of any owner finds it.
  expectations.expect('ns/ds', { creations: 0, deletions: [] });
  assert.equal(expectations.size, 0);
  const other = ['ns/other', { unanswered: 2, created: [], lost: 0, deletions: [] }];
  assert.deepEqual(told, [['ns/ds', { unanswered: 0, created: ['a'], lost: 0, deletions: ['d'] }], other]);
});

test('a late answer of a pass that is over says nothing about the next one', () => {
  const expectations = new Expectations(new FakeClock());
  const first = expectations.expect('ns/ds', { creations: 1, deletions: ['x'] });
  expectations.forget('ns/ds');
  assert.equal(expectations.size, 0);
  expectations.expect('ns/ds', { creations: 1, deletions: [] });
  first.notCreated();
  first.notDeleted('x');
  assert.equal(expectations.expiresIn('ns/ds'), TTL);
});

test('what the cache has passed over is awaited no more, and looked for every second until then', () => {
  let reached = '9';
  const expectations = new Expectations(new FakeClock(), { reached: () => reached });
  const pass = expectations.expect('ns/ds', { creations: 4, deletions: ['d'] });
  assert.equal(expectations.requeueAfter('ns/ds'), TTL, 'answers bring the owner back by themselves');
  pass.created('a', '11');
  pass.created('b', '12');
  pass.created('c', 'opaque');
  pass.created('e');
  assert.equal(expectations.requeueAfter('ns/ds'), 1_000);
  for (reached of ['11', '13']) assert.equal(expectations.requeueAfter('ns/ds'), 1_000, 'of c and e nobody knows');
  expectations.creationSeen('ns/ds', 'c');
  expectations.creationSeen('ns/ds', 'e');
  assert.equal(expectations.requeueAfter('ns/ds'), TTL, 'a deletion is in a list too: its absence is an event');
  expectations.deletionSeen('ns/ds', 'd');
  assert.equal(expectations.size, 0);

  const alone = expectations.expect('ns/ds', { creations: 1, deletions: [] });
  alone.created('z', '13');
  assert.equal(expectations.requeueAfter('ns/ds'), undefined);
  assert.equal(expectations.size, 0);
});

const refused = apiErrorFrom({ method: 'POST', path: '/api/v1/pods', host: 'test' }, 403, '');
const broken = apiErrorFrom({ method: 'POST', path: '/api/v1/pods', host: 'test' }, 504, '');

for (const [why, answer, expiresIn] of [
  ['made is awaited by its UID', { metadata: { uid: 'a' } }, TTL],
  ['answered without a UID is looked out for', { metadata: {} }, 10_000],
  ['refused is not awaited', refused, undefined],
  ['perhaps made is looked out for', broken, 10_000],
] as const)
  test(`what was ${why}, and the caller hears the answer`, async () => {
    const expectations = new Expectations(new FakeClock());
    const pass = expectations.expect('ns/ds', { creations: 1, deletions: [] });
    const call = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve<KubeObject>(answer));
    const heard: unknown = await pass.create(call).catch((error: unknown) => error);
    assert.equal(heard, answer);
    assert.equal(expectations.expiresIn('ns/ds'), expiresIn);
  });

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

test('who has written is held back for a second at a time, until the cache shows it', () => {
  const ownWrites = new OwnWrites(new FakeClock());
  const old = cache('5:');
  ownWrites.wrote('ns/web', old, object('web-0/a@9'));
  assert.deepEqual(holdBack('ns/web', { ownWrites, caches: [old] }), { requeueAfter: 1_000, why: 'own writes are not seen yet' });
  assert.equal(holdBack('ns/other', { ownWrites, caches: [old] }), undefined);
  assert.equal(holdBack('ns/web', { ownWrites, caches: [cache('9:')] }), undefined);
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
