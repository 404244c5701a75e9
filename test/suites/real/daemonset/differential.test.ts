import { daemonSets } from '../../../../kube/api/object.ts';
import { comparedReleases } from '../../../support/real-parts/release.ts';
import { stories } from '../../../support/stories/daemonset/all.ts';
import { playDaemonSets } from '../../../support/stories/play.ts';
import { startSubject } from '../cluster/controllers.ts';
import { compareWithUpstream } from '../cluster/differential.ts';
import { playStories } from '../cluster/play-stories.ts';
import { RealWorld, worldParts } from '../cluster/real-world.ts';
import { withRealParts } from '../suite.ts';
import { differences } from './differences.ts';

/*
 * Both DaemonSet controllers run as processes, each on a real control plane of its own. What is left are sets with their status, pods, revisions and events.
 */
for (const release of await comparedReleases('daemonset')) {
  const compare = (): void =>
    compareWithUpstream({
      stories: stories.map(({ name }) => name),
      differences,
      release,
      play: async (subject) => {
        const world = await RealWorld.begin({ release, fence: daemonSets });
        return playStories(world, () => startSubject(subject, world.planeFor(subject)), { stories, atOnce: 8, play: playDaemonSets });
      },
    });
  await withRealParts('DaemonSet controllers compared', worldParts, compare, release);
}
