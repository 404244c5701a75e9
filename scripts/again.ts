import { closingLines, mergedClosing } from './closing-lines.ts';
import { Records, type FileRun } from './records.ts';
import { runFiles } from './run-files.ts';
import { failedOnce, report, whyNoSecondTry } from './second-try.ts';
import { suites } from './suites.ts';

/**
 * `again.ts DIR`, the last step of `.ci/run`: runs each failed file once more, alone, and prints the last lines of
 * the run: the sum of all closing lines, the slowest files, and the files that failed once or twice.
 */
const [dir] = process.argv.slice(2);
if (dir === undefined) {
  console.error('usage: again.ts DIR, where DIR is what DKC_TEST_RECORDS named for the suites');
  process.exit(2);
}
const records = new Records(dir);
const runs = records.runs();
const failed = failedOnce(runs);
const why = whyNoSecondTry(failed);
const again: FileRun[] = [];
for (const run of why === undefined ? failed : []) {
  console.log(`== second try of ${run.file}, alone`);
  const began = performance.now();
  const { code, text, cpuMs } = await runFiles([run.file], suites[run.suite]?.options ?? [], true);
  again.push(records.addSecond({ ...run, ms: Math.round(performance.now() - began), cpuMs, passed: code === 0 }, text));
  if (code === 0) records.addClosing(closingLines(text));
}
process.stdout.write(mergedClosing(records.closings()));
const { lines, passed } = report(runs, again);
console.log(lines.join('\n'));
if (why !== undefined) console.error(why);
process.exitCode = passed ? 0 : 1;
