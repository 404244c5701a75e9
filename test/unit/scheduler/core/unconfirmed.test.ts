import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod } from '../builders.ts';
import { Stage } from '../simulated/stage.ts';
import { SchedulerWorld } from '../simulated/world.ts';

test('a pod that was bound and is not seen is asked for, also when nothing else happens', async (t) => {
  const world = await SchedulerWorld.make({ pace: { bindMs: () => 0, startMs: () => 0, endMs: () => 0 } });
  t.after(() => world.stop());
  const stage = new Stage(world);
  stage.begin(['a']);
  let answers = 0;
  const asked: number[] = [];
  world.start({
    call({ verb, resource, key }, pass) {
      if (verb === 'get' && key === 'default/web') asked.push(world.seconds());
      // Somebody on the way says yes for the server, which never hears of it.
      return verb === 'post' && resource === 'pods/binding' && ++answers === 1 ? Promise.resolve({}) : pass();
    },
  });
  await world.clock.advance(1_000);
  stage.add(pod('web'));
  await world.clock.advance(59_000);
  assert.deepEqual(asked, []);
  await world.clock.advance(30_000);
  assert.equal(asked.length, 1);
  const nodeOf = (): string => world.pods().find(({ metadata }) => metadata.name === 'web')?.spec?.nodeName ?? '';
  assert.equal(nodeOf(), 'a');
  assert.equal(answers, 2);
  await world.clock.advance(600_000);
  assert.equal(asked.length, 1, 'it is seen');
});
