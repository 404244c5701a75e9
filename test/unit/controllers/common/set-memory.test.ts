import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SetMemory } from '../../../../controllers/common/set-memory.ts';
import { rulesOf, type Rules } from '../../../../controllers/daemonset/rules.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { daemonSet } from '../daemonset/notation.ts';

function rules(generation = 2, uid = 'ds-uid'): Rules {
  const set = daemonSet();
  return rulesOf({ ...set, metadata: { ...set.metadata, generation, uid } }, 'scheduler');
}

test('a node where pods fail again and again waits for longer, for this set alone', async () => {
  const clock = new FakeClock();
  const remembered = new SetMemory(clock);
  const seen: number[] = [];
  for (let n = 0; n < 4; n++) {
    const left = remembered.of(rules()).backoffMs('a');
    seen.push(left);
    await clock.advance(left);
    remembered.failed(rules(), 'a');
  }
  assert.deepEqual(seen, [0, 1_000, 2_000, 4_000]);
  assert.equal(remembered.of(rules()).backoffMs('b'), 0);
  assert.equal(remembered.of(rules(2, 'another')).backoffMs('a'), 0);
});

test('a new generation starts anew', () => {
  const remembered = new SetMemory(new FakeClock());
  remembered.failed(rules(2), 'a');
  assert.equal(remembered.of(rules(2)).backoffMs('a'), 1_000);
  assert.equal(remembered.of(rules(3)).backoffMs('a'), 0);
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

test('what was said is no news until it was not so meanwhile', () => {
  const remembered = new SetMemory(new FakeClock());
  assert.deepEqual(
    ['', 'x', 'x', 'y', '', 'y'].map((text) => remembered.isNews(rules().set, text)),
    [false, true, false, true, false, true],
  );
});

test('nothing is known of a set that is gone', () => {
  const remembered = new SetMemory(new FakeClock());
  remembered.failed(rules(), 'a');
  remembered.hold(rules());
  remembered.statusWritten(rules());
  remembered.isNews(rules().set, 'x');
  remembered.notFound(rules());
  assert.ok(remembered.outcomeIfNotFound(rules().set));
  assert.equal(remembered.outcomeIfNotFound(rules(2, 'another').set), undefined);
  remembered.forget('ds-uid');
  assert.equal(remembered.outcomeIfNotFound(rules().set), undefined);
  const memory = remembered.of(rules());
  assert.deepEqual([memory.backoffMs('a'), memory.creationsHeldMs, memory.statusHeldMs('busy')], [0, 0, 0]);
  assert.equal(remembered.isNews(rules().set, 'x'), true);
});
