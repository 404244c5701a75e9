import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodBackoff } from '../../../../controllers/common/pod-backoff.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

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

test('what is left grows shorter as time goes by', async () => {
  const clock = new FakeClock();
  const backoff = new PodBackoff(clock);
  backoff.raise('a');
  backoff.raise('a');
  assert.equal(backoff.left('a'), 2_000);
  await clock.advance(1_500);
  assert.equal(backoff.left('a'), 500);
  await clock.advance(500);
  assert.equal(backoff.left('a'), 0);
});

test('a wall clock that is set changes no wait', () => {
  const clock = new FakeClock();
  const backoff = new PodBackoff(clock);
  backoff.raise('a');
  clock.jump(3_600_000);
  assert.equal(backoff.left('a'), 1_000);
});

test('each place has its own', async () => {
  const clock = new FakeClock();
  const backoff = new PodBackoff(clock);
  await waits(backoff, clock, 'a', 5);
  assert.equal(backoff.left('b'), 0);
  backoff.raise('b');
  assert.equal(backoff.left('b'), 1_000);
  assert.equal(backoff.left('a'), 16_000);
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

test('an owner that is gone is forgotten with all its places', () => {
  const backoff = new PodBackoff(new FakeClock());
  for (const place of ['u1/1/a', 'u1/2/b', 'u10/1/a']) backoff.raise(place);
  backoff.forget('u1/');
  assert.equal(backoff.size, 1);
  assert.equal(backoff.left('u10/1/a'), 1_000);
});

test('its limits can be others', async () => {
  const clock = new FakeClock();
  assert.deepEqual(await waits(new PodBackoff(clock, { base: 10_000, cap: 25_000 }), clock, 'a', 5), [0, 10, 20, 25, 25]);
});

test('a place starts anew though others were forgotten a moment before it could be', async () => {
  const clock = new FakeClock();
  const backoff = new PodBackoff(clock);
  await waits(backoff, clock, 'a', 3);
  await clock.advance(1_799_000);
  backoff.raise('b');
  await clock.advance(1_500);
  backoff.raise('a');
  assert.equal(backoff.left('a'), 1_000);
});
