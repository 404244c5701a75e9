import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { closingLines, failingTests, withoutFailed } from '../../../scripts/closing-lines.ts';
import { Records, type FileRun } from '../../../scripts/records.ts';
import { runFiles, SHARED } from '../../../scripts/run-files.ts';
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

test('only failed files are run again', () =>
  assert.deepEqual(failedOnce([run('a', true), run('b', false), unit('c', 1)]), [run('b', false)]));

test('of files that share a process those that failed are kept with what it printed, and their tests are counted by the second run', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'dkc-second-try-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const bodies = { a: "test('one', () => {}); test('two', () => {})", b: "test('fails', () => { throw new Error('broken') })" };
  const files = Object.entries(bodies).map(([name, body]) => {
    writeFileSync(join(dir, `${name}.test.mjs`), `import { test } from 'node:test'; ${body}`);
    return join(dir, `${name}.test.mjs`);
  });
  const durations = join(dir, 'durations');
  const reporters = ['spec', 'stdout', './scripts/durations-reporter.ts', durations];
  const flags = reporters.map((value, index) => `--test-reporter${index % 2 === 0 ? '' : '-destination'}=${value}`);
  const ended = await runFiles(files, [SHARED, ...flags], false);
  const records = new Records(join(dir, 'records'));
  const failed = records.addShared('unit', readFileSync(durations, 'utf8'), ended.text);
  assert.deepEqual(failed.map(({ file }) => basename(file)), ['b.test.mjs']); // prettier-ignore
  assert.deepEqual(failedOnce(records.runs()), failed);
  assert.match(readFileSync(failed[0]?.output ?? '', 'utf8'), /broken/);
  const closing = closingLines(ended.text);
  assert.deepEqual([closing.get('tests'), withoutFailed(closing).get('tests'), withoutFailed(closing).get('fail')], [3, 2, 0]);
  assert.match(failingTests(ended), /^✖ failing tests:[^]*✖ fails[^]*broken/);
  assert.doesNotMatch(failingTests(ended), /✔/);
});

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
