import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf, setting, subjects } from './simulated/subjects.ts';

for (const subject of subjects) {
  const { kind, random } = subject;
  const { steps } = random;
  const seeds = setting(subject, 'SEEDS', random.seeds);
  const first = setting(subject, 'SEED', 1);
  const checked = { creations: 0, deletions: 0 };

  for (let seed = first; seed < first + seeds; seed++)
    test(`whatever happens to ${kind}s in ${steps} steps, once they are left alone they are right and silent: seed ${seed}`, async () => {
      const run = { seed, steps };
      const ran = await subject.randomRun(run);
      checked.creations += ran.checked.creations;
      checked.deletions += ran.checked.deletions;
      const failure = await failureOf(subject, run, ran);
      if (failure !== undefined) assert.fail(failure);
    });

  test(`runs of ${kind}s in which nothing could have been wrong prove nothing`, () => {
    assert.ok(checked.creations >= seeds * random.creations, `${checked.creations} creations were checked`);
    assert.ok(checked.deletions >= seeds * random.deletions, `${checked.deletions} deletions of available pods were checked`);
  });
}
