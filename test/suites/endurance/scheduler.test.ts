import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRandomly, storyInWords } from '../../unit/scheduler/engine/play.ts';

const STEPS = Number(process.env['DKC_SCHEDULER_STEPS'] ?? 100_000);
const FIRST = Number(process.env['SEED'] ?? 1_000);
/** Most clusters do not last; some last so long that what is kept of pods has to make room. */
const LASTS = [50, 50, 50, 50, 50, 50, 50, 50, 50, 2_000];

test(`${STEPS} questions after random events, and the engine answers each as the oracle does`, (t) => {
  let seed = FIRST;
  for (let left = STEPS; left > 0; seed++) {
    const questions = Math.min(left, LASTS[seed % LASTS.length] ?? 50);
    const played = playRandomly(seed, questions);
    if (played.wrong !== undefined) assert.fail(storyInWords(played));
    left -= questions;
  }
  t.diagnostic(`${seed - FIRST} clusters`);
});
