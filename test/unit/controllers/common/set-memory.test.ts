import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodBackoff, SetMemory } from '../../../../controllers/common/set-memory.ts';
import { type Rules, rulesOf } from '../../../../controllers/daemonset/rules.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { daemonSet } from '../daemonset/notation.ts';
import { paceStatus, reaches, type StatusDiff } from '../../../../controllers/common/status.ts';

function rules(generation = 2, uid = 'ds-uid'): Rules {
  const set = daemonSet();
  return rulesOf({ ...set, metadata: { ...set.metadata, generation, uid } }, 'scheduler');
}

test('a node where a pod failed waits, for this set alone', () => {
  const remembered = new SetMemory(new FakeClock());
  remembered.failed(rules(), 'a');
  assert.equal(remembered.of(rules()).backoffMs('a'), 1_000);
  assert.equal(remembered.of(rules()).backoffMs('b'), 0);
  assert.equal(remembered.of(rules(2, 'another')).backoffMs('a'), 0);
  assert.equal(remembered.of(rules(3)).backoffMs('a'), 0, 'a new generation starts anew');
});

test('creations are held for longer each time, and failures are something else', () => {
  const remembered = new SetMemory(new FakeClock());
  assert.equal(remembered.of(rules()).creationsHeldMs, 0);
  assert.equal(remembered.hold(rules()), 1_000);
  assert.equal(remembered.hold(rules()), 2_000);
  assert.equal(remembered.of(rules()).creationsHeldMs, 2_000);
  assert.equal(remembered.of(rules()).backoffMs('a'), 0);
});

test('numbers of a status that was just written are held for a moment, and for longer while pods are made', async () => {
  const clock = new FakeClock();
  const remembered = new SetMemory(clock);
  const held = (): number[] => (['idle', 'busy'] as const).map((pace) => remembered.of(rules()).statusHeldMs(pace));
  assert.deepEqual(held(), [0, 0]);
  remembered.statusWritten(rules());
  assert.deepEqual(held(), [100, 500]);
  await clock.advance(99);
  assert.deepEqual(held(), [1, 401]);
  await clock.advance(401);
  assert.deepEqual(held(), [0, 0]);
});

test('nothing is known of a set that is gone', () => {
  const remembered = new SetMemory(new FakeClock());
  remembered.failed(rules(), 'a');
  remembered.hold(rules());
  remembered.statusWritten(rules());
  remembered.isNewText(rules().set, 'x');
  remembered.notFound(rules());
  assert.ok(remembered.outcomeIfNotFound(rules().set));
  assert.equal(remembered.outcomeIfNotFound(rules(2, 'another').set), undefined);
  remembered.forget('ds-uid');
  assert.equal(remembered.outcomeIfNotFound(rules().set), undefined);
  const memory = remembered.of(rules());
  assert.deepEqual([memory.backoffMs('a'), memory.creationsHeldMs, memory.statusHeldMs('busy')], [0, 0, 0]);
  assert.equal(remembered.isNewText(rules().set, 'x'), true);
});

/** Fails again and again, each time as soon as it may. @returns how long each had to stay, in s */
async function waits(backoff: PodBackoff, clock: FakeClock, place: string, times: number): Promise<number[]> {
  const seen: number[] = [];
  for (let n = 0; n < times; n++) {
    const left = backoff.left(place);
    seen.push(left / 1_000);
    await clock.advance(left);
    assert.equal(backoff.left(place), 0);
    backoff.raise(place);
  }
  return seen;
}

test('what fails goes at once, then after 1, 2, 4 and up to 900 seconds', async () => {
  const clock = new FakeClock();
  const seen = await waits(new PodBackoff(clock), clock, 'a', 14);
  assert.deepEqual(seen, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
});

test('after half an hour without failure it starts anew, and not before', async () => {
  const clock = new FakeClock();
  const backoff = new PodBackoff(clock);
  await waits(backoff, clock, 'a', 5);
  await clock.advance(1_800_000);
  backoff.raise('a');
  assert.equal(backoff.left('a'), 32_000, 'half an hour to the millisecond is not longer than that');
  await clock.advance(1_800_001);
  backoff.raise('a');
  assert.equal(backoff.left('a'), 1_000);
});

test('idle places are forgotten, those in use are not', async () => {
  const clock = new FakeClock();
  const backoff = new PodBackoff(clock);
  for (const place of ['a', 'b', 'c']) backoff.raise(place);
  await clock.advance(1_700_000);
  backoff.raise('c');
  assert.equal(backoff.size, 3);
  await clock.advance(100_001);
  backoff.raise('d');
  assert.equal(backoff.size, 2);
  assert.equal(backoff.left('c'), 0);
  backoff.raise('c');
  assert.equal(backoff.left('c'), 4_000);
});

const numbers: StatusDiff = { change: 'numbers', reached: false, busy: false };
const cases: { why: string; news: StatusDiff; after: number; is: 'written' | 'left' | number }[] = [
  { why: 'nothing changes', news: { ...numbers, change: 'nothing', reached: true }, after: 9_999, is: 'left' },
  { why: 'more than numbers changes', news: { ...numbers, change: 'more', busy: true }, after: 0, is: 'written' },
  { why: 'numbers change just after a write', news: numbers, after: 1, is: 99 },
  { why: 'numbers change while pods are made', news: { ...numbers, busy: true }, after: 100, is: 400 },
  { why: 'a number is what it should be', news: { ...numbers, reached: true, busy: true }, after: 0, is: 'written' },
];
for (const { why, news, after, is } of cases)
  test(`when the status is written: ${why}`, () => {
    const memory = { statusHeldMs: (pace: 'idle' | 'busy') => Math.max(0, { idle: 100, busy: 500 }[pace] - after) };
    const { status, wakeUps } = paceStatus({ any: 1 }, news, memory);
    assert.deepEqual(wakeUps[0]?.requeueAfter ?? (status === undefined ? 'left' : 'written'), is);
  });

test('what it is to reach what should be', () => {
  assert.equal(reaches(3, [[2, 3]]), true, 'it is what it should be');
  assert.equal(reaches(3, [[3, 3]]), false, 'it was before');
  assert.equal(reaches(3, [[1, 2]]), false, 'it is not yet');
  assert.equal(reaches(0, [[undefined, 0]]), false, 'none is none, written or not');
  assert.equal(reaches(0, [[4, 0], [1, 2]]), true, 'one of them'); // prettier-ignore
});
