import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TransportError } from '../../../kube/client/errors.ts';
import { defaultSchedulerConfig } from '../../../scheduler/config/config.ts';
import type { Interceptor, SeenCall } from '../../support/simulated/intercepted.ts';
import { pod } from './builders.ts';
import { Witness } from './simulated/audit.ts';
import { Stage } from './simulated/stage.ts';
import { SchedulerWorld } from './simulated/world.ts';

const unreachable = ({ verb, key }: SeenCall): TransportError =>
  new TransportError({ method: verb.toUpperCase(), path: key, host: 'local' }, 'unreachable', {
    hint: 'the test cut it',
    cause: undefined,
  });
const lease = { namespace: 'kube-system', name: 'scheduler', leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 1_000 };
const pace = { bindMs: () => 0, startMs: () => 500, endMs: () => 4_000 };

const mirror = { reservation: { ...defaultSchedulerConfig.reservation, mirror: true, mirrorImage: 'pause:1' } };

/** At which moment of a rollout the one at work ends, in ms: the pod on its way out, gone and made again, being placed, at rest. */
for (const at of [0, 3_900, 4_100, 5_000])
  for (const how of ['ends', 'is cut off', 'ends, pods standing for rooms', 'is cut off, pods standing for rooms'] as const)
    test(`one of two schedulers ${how}, ${at} ms into a rollout: the other one goes on, with the rooms that it kept as well`, async () => {
      const world = await SchedulerWorld.make({ pace, config: how.endsWith('rooms') ? mirror : {} });
      const { problems } = new Witness(world.api);
      const stage = new Stage(world);
      const bindings: string[] = [];
      let isCut = false;
      try {
        stage.begin(['a', 'b']);
        const binding = (who: string): Interceptor => ({
          call: (call, pass) => {
            if (who === 'one' && isCut) return Promise.reject(unreachable(call));
            if (call.resource === 'pods/binding') bindings.push(`${who} ${call.key}`);
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
        await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '4' } } });
        await world.clock.advance(at);
        if (how.startsWith('ends')) void first.stop();
        else isCut = true;
        await world.clock.advance(60_000);
        assert.equal(second.ready, true);
        assert.deepEqual(stage.problems(), []);
        assert.deepEqual([places(), images(world)], [before, ['v2', 'v2']]);
        bindings.length = 0;
        await stage.roll('web', { image: 'v3', resources: { requests: { cpu: '4' } } });
        await world.clock.advance(60_000);
        assert.deepEqual([places(), images(world)], [before, ['v3', 'v3']]);
        assert.deepEqual(bindings.toSorted(), ['two default/web-0', 'two default/web-1']);
        assert.deepEqual(problems, []);
      } finally {
        isCut = false;
        await world.stop();
      }
    });

const images = (world: SchedulerWorld): (string | undefined)[] =>
  world.pods().flatMap(({ spec }) => (spec?.nodeName ? [spec.containers[0]?.image] : []));
