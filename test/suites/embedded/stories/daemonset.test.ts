import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { daemonSetController } from '../../../../controllers/daemonset/controller.ts';
import { stories } from '../../../support/stories/daemonset/all.ts';
import { Stage } from '../../../support/stories/daemonset/stage.ts';
import { startSimulated, type Simulated } from '../../../support/stories/simulated.ts';

/* The stories that are played to a real control plane as well (test/suites/real/daemonset): here in fake time. */
describe('stories of DaemonSets in fake time', () => {
  let home: Simulated;
  before(async () => {
    home = await startSimulated((runtime) => [daemonSetController(runtime)]);
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
