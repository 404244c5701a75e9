import { playStatefulSets } from '../../../support/stories/play.ts';
import { comparedReleases, givenRelease } from '../../../support/real-parts/release.ts';
import { asked } from '../../../support/stories/random.ts';
import { stories } from '../../../support/stories/statefulset/all.ts';
import { randomStories } from '../../../support/stories/statefulset/random.ts';
import { compareWithUpstream } from '../cluster/differential.ts';
import { playStories } from '../cluster/play-stories.ts';
import { worldParts } from '../cluster/real-world.ts';
import { startKeeper, startWorld } from '../cluster/set-world.ts';
import { withRealParts } from '../suite.ts';
import { differences, everywhere, inWordsOf } from './differences.ts';

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
      play: async (subject) => {
        const world = await startWorld(release);
        return playStories(world, () => startKeeper(subject, world.planeFor(subject)), { stories, atOnce: 16, play: playStatefulSets });
      },
    });
  await withRealParts('StatefulSet controllers compared', worldParts, compare, release);
}

/* What no story thought of; 1.20 does not know half of it. */
const release = await givenRelease();
const random = randomStories(asked.seed, asked.count);
const compareRandom = (): void =>
  compareWithUpstream({
    stories: random.map(({ name }) => name),
    differences: {},
    release,
    play: async (subject) => {
      const world = await startWorld(release);
      return playStories(world, () => startKeeper(subject, world.planeFor(subject)), {
        stories: random,
        atOnce: 16,
        play: playStatefulSets,
      });
    },
  });
await withRealParts('StatefulSet controllers compared at random', worldParts, compareRandom, release);
