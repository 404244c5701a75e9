import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileRun } from '../../../scripts/records.ts';
import { failedOnce, report, whyNoSecondTry } from '../../../scripts/second-try.ts';

const run = (file: string, passed: boolean, ms = 1000): FileRun => ({ suite: 'real', file, ms, passed, output: `kept/${file}.txt` });
const unit = (file: string, ms: number): FileRun => ({ suite: 'unit', file, ms, passed: true });

test('a file that fails once and passes alone is listed as flaky, with both outputs, and the run goes on', () => {
  const { lines, passed } = report([run('a', true), run('b', false)], [{ ...run('b', true), output: 'kept/b.second.txt' }]);
  assert.equal(passed, true);
  assert.equal(lines.at(-1), 'flaky: failed once, then passed alone: b (outputs: kept/b.txt, kept/b.second.txt)');
});

test('a file that fails twice fails the run', () => {
  const { lines, passed } = report([run('b', false)], [run('b', false)]);
  assert.equal(passed, false);
  assert.match(lines.at(-1) ?? '', /^failed twice: b /);
});

test('a failed file that nobody ran again fails the run', () => assert.equal(report([run('b', false)], []).passed, false));

test('two failed files are run again, three are not', () => {
  const files = ['a', 'b', 'c'].map((file) => run(file, false));
  assert.equal(whyNoSecondTry(files.slice(0, 2)), undefined);
  assert.equal(whyNoSecondTry(files), '3 test files failed, and at most 2 are run again: a, b, c');
});

test('only failed files whose output was kept count: those of the unit suite fail their own step', () =>
  assert.deepEqual(failedOnce([run('a', true), run('b', false), unit('c', 1)]), [run('b', false)]));

test('the twenty slowest files are listed, the slowest first', () => {
  const { lines } = report(
    Array.from({ length: 25 }, (_, n) => unit(`file-${n}`, n * 1000)),
    [],
  );
  assert.equal(lines[0], 'slowest 20 of 25 test files');
  assert.equal(lines[1], '   24.0 s  file-24');
  assert.equal(lines.length, 21);
});

test('a file in a process of its own is listed with its processor time', () =>
  assert.equal(report([{ ...run('a', true, 61_000), cpuMs: 7_250 }], []).lines[1], '   61.0 s  a (processor: 7.3 s)'));
