import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileRun } from '../../../scripts/records.ts';
import { failedOnce, report, whyNoSecondTry } from '../../../scripts/second-try.ts';

const run = (file: string, passed: boolean): FileRun => ({ suite: 'real', file, ms: 1000, passed, output: `kept/${file}.txt` });

test('a file that fails once and passes alone is listed as flaky; one that fails twice, or was not run again, fails the run', () => {
  const flaky = report([run('a', true), run('b', false)], [{ ...run('b', true), output: 'kept/b.second.txt' }]);
  assert.equal(flaky.passed, true);
  assert.equal(flaky.lines.at(-1), 'flaky: failed once, then passed alone: b (outputs: kept/b.txt, kept/b.second.txt)');
  const twice = report([run('b', false)], [run('b', false)]);
  assert.equal(twice.passed, false);
  assert.match(twice.lines.at(-1) ?? '', /^failed twice: b /);
  assert.equal(report([run('b', false)], []).passed, false);
});

test('only failed files are run again, and at most two', () => {
  assert.deepEqual(failedOnce([run('a', true), run('b', false)]), [run('b', false)]);
  const files = ['a', 'b', 'c'].map((file) => run(file, false));
  assert.equal(whyNoSecondTry(files.slice(0, 2)), undefined);
  assert.equal(whyNoSecondTry(files), '3 test files failed, and at most 2 are run again: a, b, c');
});
