import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rollouts } from '../simulated/rollouts.ts';

const COUNT = 15;

for (const mirror of [false, true])
  test(`${COUNT} random rollouts${mirror ? ' with pods that stand for room' : ''} leave nothing behind: no room, nobody assumed, nobody forgotten`, async () => {
    let [rooms, made] = [0, 0];
    for (let seed = 1; seed <= COUNT; seed++) {
      const { problems, did, rooms: kept, mirrors } = await rollouts(seed, mirror);
      rooms += kept;
      made += mirrors;
      assert.deepEqual(problems, [], `seed ${seed}:\n${did.join('\n')}`);
    }
    assert.ok(rooms > COUNT && made > COUNT === mirror, `room was kept ${rooms} times, ${made} pods stood for it`);
  });
