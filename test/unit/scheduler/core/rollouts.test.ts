import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noRooms, plus, rollouts } from '../simulated/rollouts.ts';

const COUNT = 15;

test(`${COUNT} random rollouts leave nothing behind: no room, nobody assumed, nobody forgotten`, async () => {
  let rooms = noRooms;
  for (let seed = 1; seed <= COUNT; seed++) {
    const { problems, did, rooms: kept } = await rollouts(seed);
    rooms = plus(rooms, kept);
    assert.deepEqual(problems, [], `seed ${seed}:\n${did.join('\n')}`);
  }
  const { ofStatefulSets, ofDaemonSets, usedByDaemons } = rooms;
  assert.ok(ofStatefulSets > COUNT && ofDaemonSets > COUNT / 2, `room was kept ${JSON.stringify(rooms)} times only`);
  assert.ok(usedByDaemons > ofDaemonSets / 2, `room of DaemonSets is hardly used: ${JSON.stringify(rooms)}`);
});

test(`${COUNT} random rollouts with pods that stand for room: no node is overfull by one, and none is left`, async () => {
  let made = 0;
  for (let seed = 1; seed <= COUNT; seed++) {
    const { problems, did, mirrors } = await rollouts(seed, true);
    made += mirrors;
    assert.deepEqual(problems, [], `seed ${seed}:\n${did.join('\n')}`);
  }
  assert.ok(made > 2 * COUNT, `there were ${made} only`);
});
