import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { statefulSetController } from '../../../../controllers/statefulset/controller.ts';
import { persistentVolumeClaims, statefulSets } from '../../../../kube/api/resources.ts';
import { stories } from '../../../support/stories/statefulset/all.ts';
import { Stage } from '../../../support/stories/statefulset/stage.ts';
import { startSimulated, type Simulated } from '../../../support/stories/simulated.ts';

/* The stories that are played to a real control plane as well (test/suites/real/statefulset): here in fake time. */
describe('stories of StatefulSets in fake time', () => {
  let home: Simulated;
  before(async () => {
    home = await startSimulated((runtime) => [statefulSetController(runtime)], {
      more: [statefulSets, persistentVolumeClaims],
      endMs: 200,
    });
  });
  after(async () => {
    await home[Symbol.asyncDispose]();
    assert.deepEqual(
      home.controllers.failures().filter((line) => line.startsWith('error')),
      [],
    );
  });

  for (const story of stories)
    test(story.name, async () => {
      const stage = await Stage.open(home.world, story.name);
      await story.play(stage);
      stage.close();
    });
});
