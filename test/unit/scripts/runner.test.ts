import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { closingLines, failingTests } from '../../../scripts/closing-lines.ts';
import type { FileRun } from '../../../scripts/records.ts';
import { runFiles, SHARED } from '../../../scripts/run-files.ts';
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

const wait = 'await new Promise((resolve) => setTimeout(resolve, 20));';
const bodies: [what: string, body: string, code: number][] = [
  ['passes', wait, 0],
  ['fails', "throw new Error('wrong');", 1],
  ['leaves a rejection that nobody catches', `void Promise.reject(new Error('unhandled')); ${wait}`, 1],
];
for (const options of [[SHARED], []])
  for (const [what, body, code] of bodies)
    test(`a file that ${what} ends the run with ${code}, ${options.length > 0 ? 'shared' : 'alone'}`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'dkc-run-files-'));
      t.after(() => rmSync(folder, { recursive: true }));
      // Named as a file that runs without the hook where it does not share a process.
      const file = join(folder, 'agent/stories.test.ts');
      mkdirSync(dirname(file));
      writeFileSync(file, `import { test } from 'node:test';\ntest('one', async () => { ${body} });\n`);
      const ended = await runFiles([file], options, false);
      assert.equal(ended.code, code, ended.text);
      assert.ok((closingLines(ended.text).get('tests') ?? 0) >= 1, ended.text);
      if (code === 1 && what === 'fails') assert.match(failingTests(ended), /failing tests:[^]*wrong/);
    });
