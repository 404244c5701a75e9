import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSchedulerConfig } from '../../../scheduler/config/config.ts';
import { pod } from './builders.ts';
import { Stage } from './simulated/stage.ts';
import { SchedulerWorld } from './simulated/world.ts';

const pace = { bindMs: () => 0, startMs: () => 500, endMs: () => 4_000 };

const cases = [
  { why: 'room that was written down is kept by whoever comes next', persist: 'annotation', rivals: 0, keeps: true },
  {
    why: 'also from pods that are less important than the set, and before its successor is made',
    persist: 'annotation',
    rivals: 5,
    keeps: true,
  },
  { why: 'but not from pods that are more important', persist: 'annotation', rivals: 15, keeps: false },
  { why: 'room that was not is anybody’s', persist: 'none', rivals: 0, keeps: false },
] as const;
for (const { why, persist, rivals: priority, keeps } of cases)
  test(`nobody schedules while a pod of a rolling set goes: ${why}`, async () => {
    const { reservation, preemption } = defaultSchedulerConfig;
    // Nobody makes up for it by force.
    const config = { reservation: { ...reservation, persist }, preemption: { ...preemption, enabled: false } };
    const world = await SchedulerWorld.make({ pace, config });
    const stage = new Stage(world);
    const place = (name: string): string | undefined => world.pods().find(({ metadata }) => metadata.name === name)?.spec?.nodeName;
    try {
      stage.begin(['a', 'b']);
      const first = world.start();
      world.api.add({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'set' }, value: 10 });
      stage.addSet('web', '4', { replicas: 2, podManagementPolicy: 'Parallel' }, priority === 0 ? {} : { priorityClassName: 'set' });
      await world.clock.advance(5_000);
      const before = ['web-0', 'web-1'].map(place);
      for (let n = 0; n < 8; n++) stage.add(pod(`rival-${n}`).cpu('1').priority(priority));
      await world.clock.advance(15_000);
      await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '4' } } });
      await world.clock.advance(1_000);
      // The pod is on its way out. It is gone, and made again if need be, before anybody looks.
      const isMadeLate = priority !== 0;
      void first.stop();
      if (isMadeLate) void world.stopControllers();
      await world.clock.advance(10_000);
      const second = world.start();
      await world.clock.advance(5_000);
      if (isMadeLate) world.startControllers();
      await world.clock.advance(60_000);
      assert.equal(second.ready, true);
      const isBack = JSON.stringify(['web-0', 'web-1'].map(place)) === JSON.stringify(before);
      const rivals = world.pods().filter(({ metadata, spec }) => metadata.name?.startsWith('rival') && spec?.nodeName !== undefined);
      assert.deepEqual([isBack, rivals.length === 0], [keeps, keeps]);
    } finally {
      await world.stop();
    }
  });
