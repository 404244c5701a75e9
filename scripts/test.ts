import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closingLines, failingTests, mergedClosing, withoutFailed } from './closing-lines.ts';
import { isHookless } from './hookless.ts';
import { Records, type FileRun } from './records.ts';
import { runFiles, SHARED, type Ended } from './run-files.ts';
import { failedOnce, report, whyNoSecondTry } from './second-try.ts';
import { suites, type Suite } from './suites.ts';

/**
 * `npm test` and its slower siblings: `test.ts SUITE [FILE...] [OPTION...]`. Selects the files for Node's test runner.
 * With DKC_TEST_RECORDS=DIR, as in CI, a failed file is left to `again.ts`, which runs it a second time. DKC_TEST_LINES=N runs N files
 * of a slow suite concurrently, as CI does for suites that mostly wait.
 */
const PARTS_EACH = 4;

const [name = 'unit', ...rest] = process.argv.slice(2);
const suite = suites[name];
if (!suite) {
  console.error(`unknown suite ${name}; known: ${Object.keys(suites).join(', ')}`);
  process.exit(2);
}
const named = rest.filter((word) => word.endsWith('.test.ts'));
const options = [...suite.options, ...rest.filter((word) => !word.endsWith('.test.ts'))];
const files = (named.length > 0 ? named : suite.files()).toSorted();
const kept = process.env['DKC_TEST_RECORDS'];
const scratch = mkdtempSync(join(tmpdir(), 'dkc-tests-'));
const records = new Records(kept ?? scratch);
process.exitCode = await (suite.shared > 0 ? together(suite) : oneByOne());
// The output of failed files is kept.
if (process.exitCode === 0) rmSync(scratch, { recursive: true });

/** More parts than processes, so that none waits long for the slowest; files are dealt in turn, since neighbors tend to take equally long. */
async function together({ shared }: Suite): Promise<number> {
  const sharing = files.filter((file) => !isHookless(file));
  const parts = [
    ...files.filter(isHookless).map((file) => [file]),
    ...Array.from({ length: shared * PARTS_EACH }, (_, at) => sharing.filter((_file, index) => index % (shared * PARTS_EACH) === at)),
  ];
  const ended: Ended[] = [];
  let unexplained = false;
  const left = parts.entries();
  const work = async (): Promise<void> => {
    for (const [at, part] of left) {
      if (part.length === 0) continue;
      const durations = join(scratch, `durations-${at}`);
      const reporters = ['spec', 'stdout', './scripts/durations-reporter.ts', durations];
      const flags = reporters.map((value, index) => `--test-reporter${index % 2 === 0 ? '' : '-destination'}=${value}`);
      const apart = part.length === 1 && isHookless(part[0] ?? '');
      const one = await runFiles(part, [...options.filter((option) => !apart || option !== SHARED), ...flags], false);
      process.stdout.write(one.text);
      const failed = existsSync(durations) ? records.addShared(name, readFileSync(durations, 'utf8'), one.text) : [];
      // For example, a process that exited before its tests ended.
      unexplained ||= one.code !== 0 && failed.length === 0;
      if (failed.length > 0) records.addClosing(withoutFailed(closingLines(one.text)));
      ended.push(one);
    }
  };
  await Promise.all(Array.from({ length: shared }, work));
  // Repeated at the end, since above they are lost among passed tests.
  process.stdout.write(ended.map(failingTests).join(''));
  closing(ended);
  return kept === undefined || unexplained ? Math.max(0, ...ended.map(({ code }) => code)) : leftToAgain();
}

/** @returns 0 if `again.ts` decides, since so few files failed that it may be a coincidence */
function leftToAgain(): number {
  const why = whyNoSecondTry(failedOnce(records.runs()));
  if (why !== undefined) console.error(why);
  return why === undefined ? 0 : 1;
}

async function oneByOne(): Promise<number> {
  const ended: Ended[] = [];
  const runs: FileRun[] = [];
  const lines = Math.max(1, Number(process.env['DKC_TEST_LINES'] ?? 1));
  const left = files.values();
  const work = async (): Promise<void> => {
    for (const file of left) {
      const began = performance.now();
      const one = await runFiles([file], options, lines === 1);
      if (lines > 1) process.stdout.write(one.text);
      ended.push(one);
      const ms = Math.round(performance.now() - began);
      runs.push(records.addFirst({ suite: name, file, ms, cpuMs: one.cpuMs, passed: one.code === 0 }, one.text));
    }
  };
  await Promise.all(Array.from({ length: lines }, work));
  closing(ended);
  if (kept === undefined) {
    const { lines: last, passed } = report(runs, []);
    console.log(last.join('\n'));
    return passed ? 0 : 1;
  }
  return leftToAgain();
}

/** Adds up the summaries of Node's runner of all processes. */
function closing(ended: readonly Ended[]): void {
  const closings = ended.map(({ text }) => closingLines(text));
  for (const [at, one] of closings.entries()) if (ended[at]?.code === 0) records.addClosing(one);
  process.stdout.write(mergedClosing(closings));
}
