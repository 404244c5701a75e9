import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods as podKind } from '../../../../kube/api/object.ts';
import { pod } from '../builders.ts';
import { audit } from '../simulated/audit.ts';
import { Stage } from '../simulated/stage.ts';
import { SchedulerWorld } from '../simulated/world.ts';

const WAITING = 200;

test(`a pod that goes beside ${WAITING} of one kind that wait for its room costs next to nothing, and the first of them gets it`, async () => {
  const world = await SchedulerWorld.make({ pace: { bindMs: () => 0, startMs: () => 100, endMs: () => 100 } });
  try {
    const written = { statuses: 0, events: 0, bound: [] as string[] };
    world.start({
      call: (call, pass) => {
        if (call.resource === 'pods/status') written.statuses += 1;
        else if (call.resource === 'events') written.events += 1;
        else if (call.resource === 'pods/binding') written.bound.push(call.key);
        return pass();
      },
    });
    const stage = new Stage(world);
    stage.begin(['a', 'b']);
    await stage.pass(1_000);
    for (let n = 0; n < 8; n++) stage.add(pod(`full-${n}`).cpu('1').priority(10));
    await stage.pass(3_000);
    // Numbered, as the pods of a Job are; every fifth is more important.
    for (let n = 0; n < WAITING; n++)
      stage.add(
        pod(`waits-${n}`)
          .cpu('1')
          .labels({ index: `${n}` })
          .priority(n % 5 === 4 ? 5 : 0),
      );
    await stage.pass(60_000);
    const attempts = (): number => [...(world.parts?.queue.list() ?? [])].reduce((sum, { queued }) => sum + queued.attempts, 0);
    const left = attempts();
    Object.assign(written, { statuses: 0, events: 0, bound: [] });
    for (let n = 0; n < 8; n++) {
      await world.user.delete(podKind, { namespace: 'default', name: `full-${n}` });
      await stage.pass(15_000);
    }
    const first = [4, 9, 14, 19, 24, 29, 34, 39].map((n) => `default/waits-${n}`);
    assert.deepEqual(written, { statuses: 0, events: first.length, bound: first });
    assert.ok(attempts() - left < 20, `${attempts() - left} attempts`);
    assert.deepEqual(audit({ api: world.api, clock: world.clock, parts: world.parts ?? assert.fail('no scheduler') }), []);
  } finally {
    await world.stop();
  }
});
