import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stage } from '../simulated/stage.ts';
import { SchedulerWorld } from '../simulated/world.ts';

test('the log says when the scheduler begins to place pods, and when it has stopped', async () => {
  const world = await SchedulerWorld.make({ pace: { bindMs: () => 0, startMs: () => 100, endMs: () => 100 } });
  const stage = new Stage(world);
  stage.begin(['a']);
  const scheduler = world.start();
  await world.until(() => scheduler.ready, 60_000);
  const said = (): string[] => scheduler.lines.filter((line) => line.includes('scheduler '));
  assert.equal(said().length, 1, scheduler.lines.join('\n'));
  assert.match(said().join(), /scheduler started/);
  void scheduler.stop();
  await stage.pass(1_000);
  assert.equal(said().length, 2);
  assert.match(said().join(), /scheduler stopped/);
  await world.stop();
});
