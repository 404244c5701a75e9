import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionError } from '../../../../base/errors.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { apiErrorFrom } from '../../../../kube/client/errors.ts';
import { Expectations } from '../../../../kube/controller/expectations.ts';
import type { Pass } from '../../../../kube/controller/expectations.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const TTL = 300_000;
const LOST = 10_000;

// A story is words: what the pass began with, then what its calls said and what the watch showed, in that order.
// +a created, ~ lost, x refused, 8x eight refused, -a not deleted; see:a the watch shows a, gone:a the watch shows that a is terminating or deleted.
const stories: { why: string; creations: number; deletions?: string[]; story: string; satisfied: boolean }[] = [
  { why: 'nothing was to be done', creations: 0, story: '', satisfied: true },
  { why: 'a call is under way', creations: 1, story: '', satisfied: false },
  { why: 'the answer is in and the watch is not', creations: 1, story: '+a', satisfied: false },
  { why: 'the watch came after the answer', creations: 1, story: '+a see:a', satisfied: true },
  { why: 'the watch came before the answer', creations: 1, story: 'see:a +a', satisfied: true },
  { why: 'the watch showed what somebody else made', creations: 1, story: '+a see:z', satisfied: false },
  { why: 'the watch showed a stranger before the answer', creations: 1, story: 'see:z +a', satisfied: false },
  { why: 'one event came twice', creations: 2, story: '+a +b see:a see:a', satisfied: false },
  { why: 'the server refused', creations: 1, story: 'x', satisfied: true },
  { why: 'one was refused and the other not seen', creations: 2, story: 'x +a', satisfied: false },
  { why: 'the batch failed and the rest was never tried', creations: 9, story: 'x 8x', satisfied: true },
  { why: 'an answer was lost', creations: 1, story: '~', satisfied: false },
  { why: 'what a lost answer made was seen later', creations: 1, story: '~ see:a', satisfied: true },
  { why: 'what a lost answer made was seen before', creations: 1, story: 'see:a ~', satisfied: true },
  { why: 'what a lost answer made came and went', creations: 1, story: 'see:a gone:a ~', satisfied: true },
  { why: 'two answers were lost and one object seen', creations: 2, story: '~ see:a ~', satisfied: false },
  { why: 'two answers were lost and one object seen twice', creations: 2, story: '~ ~ see:a see:a', satisfied: false },
  { why: 'two answers were lost and one object seen before and after', creations: 2, story: 'see:a ~ ~ see:a', satisfied: false },
  { why: 'a known one is seen again after an answer was lost', creations: 2, story: '+a see:a ~ see:a', satisfied: false },
  { why: 'what is seen of a known one settles no lost one', creations: 2, story: 'see:a +a ~', satisfied: false },
  { why: 'a deletion by somebody else settles no lost one', creations: 2, story: 'gone:z +a see:a ~', satisfied: false },
  { why: 'a new object was going when it was first seen', creations: 1, story: '+a gone:a', satisfied: true },
  { why: 'a new object was going before its answer came', creations: 1, story: 'gone:a +a', satisfied: true },
  { why: 'a deletion is not seen', creations: 0, deletions: ['a'], story: '', satisfied: false },
  { why: 'a deletion is seen', creations: 0, deletions: ['a'], story: 'gone:a', satisfied: true },
  {
    why: 'one deletion was seen at the mark and at the removal',
    creations: 0,
    deletions: ['a', 'b'],
    story: 'gone:a gone:a',
    satisfied: false,
  },
  { why: 'another object went', creations: 0, deletions: ['a'], story: 'gone:z', satisfied: false },
  { why: 'the deletion was refused', creations: 0, deletions: ['a'], story: '-a', satisfied: true },
  { why: 'deletions are seen and a creation is not', creations: 1, deletions: ['a'], story: '+b gone:a', satisfied: false },
];

function act(word: string, pass: Pass, expectations: Expectations, key = 'ns/ds'): void {
  const [verb = '', uid = ''] = word.includes(':') ? word.split(':') : [word.slice(0, 1), word.slice(1)];
  if (verb === 'see') expectations.creationSeen(key, uid);
  else if (verb === 'gone') expectations.deletionSeen(key, uid);
  else if (verb === '+') pass.created(uid);
  else if (verb === '~') pass.lost();
  else if (verb === '-') pass.notDeleted(uid);
  else pass.notCreated(verb === 'x' ? 1 : Number(verb));
}

for (const { why, creations, deletions = [], story, satisfied } of stories) {
  test(`expectations are ${satisfied ? '' : 'not '}satisfied when ${why}`, () => {
    const clock = new FakeClock();
    const expectations = new Expectations(clock);
    const pass = expectations.expect('ns/ds', { creations, deletions });
    for (const word of story.split(' ').filter(Boolean)) act(word, pass, expectations);
    assert.equal(expectations.size, satisfied ? 0 : 1);
    assert.equal(expectations.satisfied('ns/ds'), satisfied);
  });
}

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

test('a lost answer is looked out for a shorter time', async () => {
  const clock = new FakeClock();
  const told: unknown[] = [];
  const expectations = new Expectations(clock, { lostMs: LOST, onExpired: (key) => told.push(key) });
  const pass = expectations.expect('ns/ds', { creations: 2, deletions: [] });
  await clock.advance(1_000);
  pass.lost();
  assert.equal(expectations.expiresIn('ns/ds'), TTL - 1_000, 'a call is still under way');
  pass.notCreated();
  assert.equal(expectations.expiresIn('ns/ds'), LOST);
  await clock.advance(LOST);
  assert.equal(expectations.satisfied('ns/ds'), true);
  const late = expectations.expect('ns/ds', { creations: 1, deletions: [] });
  await clock.advance(TTL - 1);
  late.lost();
  assert.equal(expectations.expiresIn('ns/ds'), 1, 'and never beyond the end');
  await clock.advance(1);
  assert.equal(expectations.satisfied('ns/ds'), true);
  assert.deepEqual(told, [], 'a call that was never done is no missed event');
});

test('a late answer of a pass that is over says nothing about the next one', () => {
  const expectations = new Expectations(new FakeClock());
  const first = expectations.expect('ns/ds', { creations: 1, deletions: ['x'] });
  expectations.forget('ns/ds');
  assert.equal(expectations.satisfied('ns/ds'), true);
  const second = expectations.expect('ns/ds', { creations: 1, deletions: [] });
  first.notCreated();
  first.notDeleted('x');
  assert.equal(expectations.satisfied('ns/ds'), false);
  second.notCreated();
  assert.equal(expectations.size, 0);
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

test('what is awaited can be told', () => {
  const expectations = new Expectations(new FakeClock());
  const pass = expectations.expect('ns/ds', { creations: 3, deletions: ['d'] });
  pass.created('a');
  pass.lost();
  assert.deepEqual(expectations.awaited('ns/ds'), { unanswered: 1, created: ['a'], lost: 1, deletions: ['d'] });
  assert.equal(expectations.awaited('ns/other'), undefined);
});

test('owners that went without a word are forgotten in time', async () => {
  const clock = new FakeClock();
  const expectations = new Expectations(clock);
  for (let n = 0; n < 100; n++) expectations.expect(`ns/gone-${n}`, { creations: 1, deletions: [] });
  await clock.advance(TTL);
  expectations.expect('ns/new', { creations: 1, deletions: [] });
  assert.equal(expectations.size, 1);

  expectations.expect('ns/gone', { creations: 1, deletions: [] });
  await clock.advance(TTL - 1);
  expectations.expect('ns/new', { creations: 1, deletions: [] });
  await clock.advance(1);
  expectations.expect('ns/newer', { creations: 1, deletions: [] });
  assert.equal(expectations.size, 2, 'a new pass makes an owner young again');
});

const refused = apiErrorFrom({ method: 'POST', path: '/api/v1/pods', host: 'test' }, 403, '');
const broken = apiErrorFrom({ method: 'POST', path: '/api/v1/pods', host: 'test' }, 504, '');

for (const { why, answer, awaited } of [
  {
    why: 'made is awaited by its UID',
    answer: { metadata: { uid: 'a' } },
    awaited: { unanswered: 0, created: ['a'], lost: 0, deletions: [] },
  },
  {
    why: 'answered without a UID is looked out for',
    answer: { metadata: {} },
    awaited: { unanswered: 0, created: [], lost: 1, deletions: [] },
  },
  { why: 'refused is not awaited', answer: refused, awaited: undefined },
  { why: 'perhaps made is looked out for', answer: broken, awaited: { unanswered: 0, created: [], lost: 1, deletions: [] } },
]) {
  test(`what was ${why}, and the caller hears the answer`, async () => {
    const expectations = new Expectations(new FakeClock());
    const pass = expectations.expect('ns/ds', { creations: 1, deletions: [] });
    const call = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve<KubeObject>(answer));
    const heard: unknown = await pass.create(call).catch((error: unknown) => error);
    assert.equal(heard, answer);
    assert.deepEqual(expectations.awaited('ns/ds'), awaited);
  });
}

test('a creation that throws before it is asked for is not awaited', async () => {
  const expectations = new Expectations(new FakeClock());
  const pass = expectations.expect('ns/ds', { creations: 1, deletions: [] });
  const call = (): Promise<KubeObject> => {
    throw new ActionError('create', 'Pod', { hint: 'its kind is namespaced; set a namespace' });
  };
  await assert.rejects(pass.create(call), ActionError);
  assert.equal(expectations.size, 0);
});
