import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRandomly, shrunk, storyInWords } from './play.ts';
import { engineSubject } from './subject.ts';

/** Clusters of the endurance suite that once found an error. */
const seeds = [{ seed: 1142, why: 'the last new term of other pods is followed at the very end of a slice' }];

for (const { seed, why } of seeds)
  test(`the engine answers as the oracle does when ${why}`, () => {
    const played = playRandomly(seed, 60, engineSubject);
    if (played.wrong !== undefined) assert.fail(storyInWords(shrunk(played, engineSubject, 300)));
  });
