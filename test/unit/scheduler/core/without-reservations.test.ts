import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../scheduler/types.ts';
import { pod } from '../builders.ts';
import { Stage } from '../simulated/stage.ts';
import { SchedulerWorld } from '../simulated/world.ts';

const SOON = 30_000;

test('without the reservation module the cycle schedules, preempts and binds, and reserves nothing', async (t) => {
  const pace = { bindMs: () => 0, startMs: () => 0, endMs: () => 1_000 };
  const world = await SchedulerWorld.make({ pace, withoutReservations: true });
  t.after(() => world.stop());
  const stage = new Stage(world);
  stage.begin(['a', 'b']);
  const scheduler = world.start();
  const find = (name: string): Pod | undefined => world.pods().find(({ metadata }) => metadata.name === name);
  const nodeOf = (name: string): string => find(name)?.spec?.nodeName ?? '';
  const isOn =
    (node: string, ...names: string[]) =>
    () =>
      names.every((name) => nodeOf(name) === node);

  stage.add(pod('low').cpu('3').selects({ 'kubernetes.io/hostname': 'a' }), pod('other').cpu('3'));
  assert.notEqual(await world.until(isOn('a', 'low'), SOON), undefined, 'schedules and binds');
  assert.notEqual(await world.until(isOn('b', 'other'), SOON), undefined, 'to the node with room');

  stage.add(pod('high').cpu('3').priority(10).selects({ 'kubernetes.io/hostname': 'a' }));
  assert.notEqual(await world.until(isOn('a', 'high'), SOON), undefined, 'preempts');
  assert.equal(find('low'), undefined);

  stage.addSet('web', '1', { replicas: 1 });
  assert.notEqual(await world.until(() => nodeOf('web-0') !== '', SOON), undefined);
  const rival = pod('rival').cpu('1');
  stage.add(rival.selects({ 'kubernetes.io/hostname': nodeOf('web-0') }));
  await world.clock.advance(SOON);
  assert.equal(nodeOf('rival'), '', 'there is no room');
  await stage.delete('web-0');
  assert.notEqual(await world.until(() => nodeOf('rival') !== '', SOON), undefined, 'what the pod of a set leaves is for anybody');
  await world.clock.advance(SOON);
  assert.deepEqual(stage.problems(), []);
  assert.deepEqual(scheduler.failures(), []);
});
