import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Millis } from '../../../../base/clock.ts';
import { pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';

const HOUR: Millis = 3_600_000;

for (const by of [-HOUR, HOUR])
  test(`when the clock is set by ${by / HOUR} h, room is kept as long as otherwise, and people read times by the clock as it is`, async (t) => {
    const { world, stage, nodeOf } = await scene(t, ['a'], { endMs: 1_000 });
    stage.addSet('web', '4', { replicas: 1 });
    await world.until(() => nodeOf('web-0') === 'a', 5_000);
    const stopped = world.stopControllers();
    await world.clock.advance(30_000);
    await stopped;
    stage.add(pod('other').cpu('4'));
    await stage.roll('web', { image: 'v2' });
    await stage.delete('web-0');
    await world.clock.advance(2_000);
    const rooms = (): number => world.parts?.reservations.size ?? 0;
    assert.equal(rooms(), 1);
    const made = world.parts?.reservations.list()[0]?.expiresAt ?? 0;
    assert.equal(world.parts?.shown(made), made);
    world.clock.jump(by);
    assert.equal(world.parts?.shown(made), made + by);
    await world.clock.advance(50_000);
    assert.equal(rooms(), 1);
    await world.clock.advance(15_000);
    assert.equal(rooms(), 0);
    await world.clock.advance(15_000);
    assert.equal(nodeOf('other'), 'a');
  });
