import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeenCall, Interceptor } from '../../support/simulated/intercepted.ts';
import type { FaultKind } from '../../support/simulated/faulty-calls.ts';
import { watchFaults, type WatchFault } from '../../support/simulated/faulty-watches.ts';
import { assertSame } from '../../support/simulated/sweeping.ts';
import { defaultSchedulerConfig } from '../../../scheduler/config/config.ts';
import { stories } from './simulated/stories.ts';
import { faultKinds, sweep, sweepWatches } from './simulated/sweep.ts';
import { TransportError } from '../../../kube/client/errors.ts';
import { pod } from './builders.ts';
import { Witness } from './simulated/audit.ts';
import { scene } from './simulated/scene.ts';
import { Stage } from './simulated/stage.ts';
import { SchedulerWorld } from './simulated/world.ts';

/** Two ways for each call, others for the next one, and every fourth event. All ways for every call, and all events: the endurance suite. */
const inTurn = (_: unknown, n: number): FaultKind[] => [n, n + 5].flatMap((at) => faultKinds[at % faultKinds.length] ?? []);
const oneOf = (n: number): WatchFault[] =>
  n % 4 === 0 ? [watchFaults[(n / 4) % watchFaults.length]].filter((fault) => fault !== undefined) : [];

for (const story of stories) {
  test(`whichever call of the scheduler fails, it comes to the same end: ${story.why}`, async () => assertSame(await sweep(story, inTurn)));

  test(`whichever event the scheduler misses or hears late, it comes to the same end: ${story.why}`, async () =>
    assertSame(await sweepWatches(story, oneOf)));
}

const mirror = { reservation: { ...defaultSchedulerConfig.reservation, mirror: true, mirrorImage: 'pause:1' } };
const ofPods: typeof inTurn = (call, n) => ((call as SeenCall).resource === 'pods' ? faultKinds : []).filter((_, at) => at % 2 === n % 2);

for (const story of stories.filter(({ why }) => why.startsWith('a set ')))
  test(`whichever call about placeholder pods fails, they are deleted, and it comes to the same end: ${story.why}`, async () =>
    assertSame(await sweep(story, ofPods, mirror)));

const unreachable = ({ verb, key }: SeenCall): TransportError =>
  new TransportError({ method: verb.toUpperCase(), path: key, host: 'local' }, 'unreachable', { hint: 'the test cut it' });
const lease = { namespace: 'kube-system', name: 'scheduler', leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 1_000 };
const pace = { bindMs: () => 0, startMs: () => 500, endMs: () => 4_000 };

/** At which moment of a rollout the one at work ends, in ms: the pod on its way out, gone and made again, being placed, at rest. */
for (const at of [0, 3_900, 4_100, 5_000])
  for (const how of ['ends', 'is cut off', 'ends, with placeholder pods', 'is cut off, with placeholder pods'] as const)
    test(`one of two schedulers ${how}, ${at} ms into a rollout: the other one goes on, with the same reservations`, async (t) => {
      const world = await SchedulerWorld.make({ pace, config: how.endsWith('placeholder pods') ? mirror : {} });
      const { problems } = new Witness(world.api);
      const stage = new Stage(world);
      const bindings: string[] = [];
      let isCut = false;
      t.after(() => {
        isCut = false;
        return world.stop();
      });
      stage.begin(['a', 'b']);
      const binding = (who: string): Interceptor => ({
        call: (call, pass) => {
          if (who === 'one' && isCut) return Promise.reject(unreachable(call));
          if (call.resource === 'pods/binding') bindings.push(call.key);
          return pass();
        },
      });
      const first = world.start(binding('one'), lease, 'one');
      await world.clock.advance(2_000);
      assert.equal(first.ready, true);
      const second = world.start(binding('two'), lease, 'two');
      stage.addSet('web', '4', { replicas: 2, podManagementPolicy: 'Parallel' });
      await world.clock.advance(3_000);
      for (let n = 0; n < 4; n++) stage.add(pod(`rival-${n}`).cpu('1'));
      await world.clock.advance(15_000);
      assert.deepEqual(second.ready, false);
      const places = (): string[] => world.pods().map(({ metadata, spec }) => `${metadata.name} ${spec?.nodeName ?? ''}`);
      const before = places();
      bindings.length = 0;
      await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '4' } } });
      await world.clock.advance(at);
      if (how.startsWith('ends')) void first.stop();
      else isCut = true;
      await world.clock.advance(60_000);
      assert.equal(second.ready, true);
      assert.deepEqual(stage.problems(), []);
      assert.deepEqual([places(), images(world)], [before, ['v2', 'v2']]);
      assert.deepEqual(bindings.toSorted(), ['default/web-0', 'default/web-1']);
      assert.deepEqual(problems, []);
    });

const images = (world: SchedulerWorld): (string | undefined)[] =>
  world.pods().flatMap(({ spec }) => (spec?.nodeName ? [spec.containers[0]?.image] : []));

const cases = [
  { why: 'a saved reservation is restored by the next leader', persist: 'annotation', rivals: 5, keeps: true },
  { why: 'but not from pods that are more important', persist: 'annotation', rivals: 15, keeps: false },
  { why: 'a reservation that was not saved is lost', persist: 'none', rivals: 0, keeps: false },
] as const;
for (const { why, persist, rivals: priority, keeps } of cases)
  test(`nobody schedules while a pod of a rolling set goes: ${why}`, async (t) => {
    const { reservation, preemption } = defaultSchedulerConfig;
    // Nobody makes up for it by force.
    const config = { reservation: { ...reservation, persist }, preemption: { ...preemption, enabled: false } };
    const { world, stage, scheduler, nodeOf } = await scene(t, ['a', 'b'], { endMs: 4_000, config });
    world.api.add({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'set' }, value: 10 });
    stage.addSet('idle', '1', { replicas: 0 });
    stage.addSet('web', '4', { replicas: 2, podManagementPolicy: 'Parallel' }, priority === 0 ? {} : { priorityClassName: 'set' });
    await world.clock.advance(5_000);
    const before = ['web-0', 'web-1'].map(nodeOf);
    for (let n = 0; n < 8; n++) stage.add(pod(`rival-${n}`).cpu('1').priority(priority));
    await world.clock.advance(15_000);
    await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '4' } } });
    await world.clock.advance(1_000);
    // The pod is on its way out. It is gone, and made again if need be, before anybody looks.
    const isMadeLate = priority !== 0;
    void scheduler.stop();
    if (isMadeLate) void world.stopControllers();
    await world.clock.advance(10_000);
    const second = world.start();
    await world.clock.advance(5_000);
    if (isMadeLate) world.startControllers();
    await world.clock.advance(60_000);
    assert.equal(second.ready, true);
    const isBack = JSON.stringify(['web-0', 'web-1'].map(nodeOf)) === JSON.stringify(before);
    const rivals = world.pods().filter(({ metadata, spec }) => metadata.name?.startsWith('rival') && spec?.nodeName !== undefined);
    assert.deepEqual([isBack, rivals.length === 0], [keeps, keeps]);
  });

test('a successor that is pending when its saved reservation is restored goes before other pods of its priority', async (t) => {
  const config = { reservation: { ...defaultSchedulerConfig.reservation, persist: 'annotation' as const } };
  const { world, stage, scheduler } = await scene(t, ['a'], { endMs: 4_000, config });
  stage.addSet('web', '1', { replicas: 1 });
  await stage.pass(5_000);
  await stage.roll('web', { image: 'v2' });
  await stage.pass(1_000);
  await Promise.all([scheduler.stop(), stage.pass(10_000)]);
  stage.add(pod('p').cpu('1'));
  const bound: string[] = [];
  const call: Interceptor['call'] = ({ resource, key }, pass) => {
    if (resource === 'pods/binding') bound.push(key);
    return pass();
  };
  world.start({ call });
  await stage.pass(10_000);
  assert.deepEqual(bound, ['default/web-0', 'default/p']);
});
