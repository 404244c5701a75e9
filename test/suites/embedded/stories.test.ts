import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { daemonSetController } from '../../../controllers/daemonset/controller.ts';
import { statefulSetController } from '../../../controllers/statefulset/controller.ts';
import { persistentVolumeClaims, statefulSets } from '../../../kube/api/object.ts';
import { stories as daemonSetStories } from '../../support/stories/daemonset/all.ts';
import { playDaemonSets, playStatefulSets } from '../../support/stories/play.ts';
import type { Play } from '../../support/stories/play.ts';
import { extensions as statefulSetExtensions } from '../../support/stories/statefulset/extensions.ts';
import { extensions as daemonSetExtensions } from '../../support/stories/daemonset/extensions.ts';
import { startSimulated, type Simulated } from '../../support/stories/simulated.ts';
import { stories as statefulSetStories } from '../../support/stories/statefulset/all.ts';

/* The stories that test/suites/real plays to a real control plane: here on the embedded server, in fake time,
   and with them those of what a kube-controller-manager does not know. */
function played<S extends { name: string }>(kind: string, stories: readonly S[], play: Play<S>, start: () => Promise<Simulated>): void {
  describe(`stories of ${kind} in fake time`, () => {
    let home: Simulated;
    before(async () => {
      home = await start();
    });
    after(async () => {
      await home[Symbol.asyncDispose]();
      const errors = home.controllers.failures().filter((line) => line.startsWith('error'));
      assert.deepEqual(errors, []);
    });

    for (const story of stories)
      test(story.name, async () => {
        const left = await play(home.world, story);
        assert.deepEqual(
          left.filter((line) => line.startsWith('FAILED')),
          [],
        );
      });
  });
}

played('DaemonSets', [...daemonSetStories, ...daemonSetExtensions], playDaemonSets, () =>
  startSimulated((runtime) => [daemonSetController(runtime)]),
);

played('StatefulSets', [...statefulSetStories, ...statefulSetExtensions], playStatefulSets, () =>
  startSimulated((runtime) => [statefulSetController(runtime)], { more: [statefulSets, persistentVolumeClaims], endMs: 200 }),
);
