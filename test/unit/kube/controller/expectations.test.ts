import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { apiErrorFrom } from '../../../../kube/client/errors.ts';
import { Expectations } from '../../../../kube/controller/expectations.ts';
import type { Pass } from '../../../../kube/controller/expectations.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { table } from '../../../support/table.ts';

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
    assert.equal(expectations.satisfied('ns/ds'), satisfied === 'yes');
  });

test('expectations end after their time, which says when to wake the owner', async () => {
  const clock = new FakeClock();
  const told: unknown[] = [];
  const expectations = new Expectations(clock, { ttlMs: TTL, onExpired: (key, missing) => told.push([key, missing]) });
  const pass = expectations.expect('ns/ds', { creations: 1, deletions: ['d'] });
  pass.created('a');
  assert.equal(expectations.expiresIn('ns/ds'), TTL);
  await clock.advance(TTL - 1);
  assert.equal(expectations.expiresIn('ns/ds'), 1);
  await clock.advance(1);
  assert.equal(expectations.satisfied('ns/ds'), true);
  assert.equal(expectations.size, 0);
  assert.deepEqual(told, [['ns/ds', { unanswered: 0, created: ['a'], lost: 0, deletions: ['d'] }]]);
});

test('a late answer of a pass that is over says nothing about the next one', () => {
  const expectations = new Expectations(new FakeClock());
  const first = expectations.expect('ns/ds', { creations: 1, deletions: ['x'] });
  expectations.forget('ns/ds');
  assert.equal(expectations.satisfied('ns/ds'), true);
  expectations.expect('ns/ds', { creations: 1, deletions: [] });
  first.notCreated();
  first.notDeleted('x');
  assert.equal(expectations.satisfied('ns/ds'), false);
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
  reached = '11';
  assert.equal(expectations.satisfied('ns/ds'), false);
  assert.deepEqual(expectations.awaited('ns/ds')?.created, ['b', 'c', 'e'], 'the cache is where a was made');
  reached = '13';
  assert.equal(expectations.satisfied('ns/ds'), false);
  assert.deepEqual(expectations.awaited('ns/ds')?.created, ['c', 'e'], 'of these nobody knows');
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

test('owners that went without a word are forgotten in time', async () => {
  const clock = new FakeClock();
  const expectations = new Expectations(clock);
  for (let n = 0; n < 100; n++) expectations.expect(`ns/gone-${n}`, { creations: 1, deletions: [] });
  await clock.advance(TTL);
  expectations.expect('ns/new', { creations: 1, deletions: [] });
  assert.equal(expectations.size, 1);
});

const refused = apiErrorFrom({ method: 'POST', path: '/api/v1/pods', host: 'test' }, 403, '');
const broken = apiErrorFrom({ method: 'POST', path: '/api/v1/pods', host: 'test' }, 504, '');

const none = { unanswered: 0, created: [], lost: 0, deletions: [] };
for (const [why, answer, awaited] of [
  ['made is awaited by its UID', { metadata: { uid: 'a' } }, { ...none, created: ['a'] }],
  ['answered without a UID is looked out for', { metadata: {} }, { ...none, lost: 1 }],
  ['refused is not awaited', refused, undefined],
  ['perhaps made is looked out for', broken, { ...none, lost: 1 }],
] as const)
  test(`what was ${why}, and the caller hears the answer`, async () => {
    const expectations = new Expectations(new FakeClock());
    const pass = expectations.expect('ns/ds', { creations: 1, deletions: [] });
    const call = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve<KubeObject>(answer));
    const heard: unknown = await pass.create(call).catch((error: unknown) => error);
    assert.equal(heard, answer);
    assert.deepEqual(expectations.awaited('ns/ds'), awaited);
  });
