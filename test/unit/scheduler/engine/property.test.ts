import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRandomly, storyInWords } from './play.ts';
import { engineSubject } from './subject.ts';

const FIRST = Number(process.env['SEED'] ?? 1);

for (const { why, worlds, questions } of [
  { why: 'in many clusters', worlds: 40, questions: 50 },
  { why: 'for long in one', worlds: 1, questions: 600 },
])
  test(`${why}, whatever happens, the engine answers as the oracle does`, () => {
    for (let seed = FIRST; seed < FIRST + worlds; seed++) {
      const played = playRandomly(seed, questions, engineSubject);
      if (played.wrong !== undefined) assert.fail(storyInWords(played));
    }
  });
