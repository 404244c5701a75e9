import { playStatefulSets } from '../../../support/stories/play.ts';
import { comparedReleases, type Release } from '../../../support/real-parts/release.ts';
import { stories } from '../../../support/stories/statefulset/all.ts';
import type { SubjectName } from '../cluster/controllers.ts';
import { compareWithUpstream } from '../cluster/differential.ts';
import { type Played, playStories } from '../cluster/play-stories.ts';
import { worldParts } from '../cluster/real-world.ts';
import { startKeeper, startWorld } from '../cluster/set-world.ts';
import { withRealParts } from '../suite.ts';
import { differences, everywhere, inWordsOf } from './differences.ts';

async function play(subject: SubjectName, release: Release, played: readonly Parameters<typeof playStatefulSets>[1][]): Promise<Played> {
  const world = await startWorld(release);
  const options = { stories: played, atOnce: 16, play: playStatefulSets };
  return playStories(world, () => startKeeper(subject, world.planeFor(subject)), options);
}

/*
 * Both StatefulSet controllers run as processes, each on a real control plane of its own. What is left are sets with their status, pods, claims, revisions
 * with their names and words, events, and the order in which pods came and went.
 */
for (const release of await comparedReleases('statefulset')) {
  const compare = (): void =>
    compareWithUpstream({
      stories: stories.map(({ name }) => name),
      differences,
      everywhere,
      release,
      inWords: inWordsOf(release),
      play: (subject) => play(subject, release, stories),
    });
  await withRealParts('StatefulSet controllers compared', worldParts, compare, release);
}
