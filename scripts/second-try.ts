import type { FileRun } from './records.ts';

/** More failed files than this are not a coincidence: the run ends without a second try. */
const MAX_SECOND_TRIES = 2;
const SLOWEST = 20;

/** Files that failed on their first run. */
export const failedOnce = (runs: readonly FileRun[]): FileRun[] => runs.filter(({ passed, output }) => !passed && output !== undefined);

/** @returns why no file gets a second try; undefined: all of them do */
export function whyNoSecondTry(failed: readonly FileRun[]): string | undefined {
  if (failed.length <= MAX_SECOND_TRIES) return undefined;
  const names = failed.map(({ file }) => file).join(', ');
  return `${failed.length} test files failed, and at most ${MAX_SECOND_TRIES} are run again: ${names}`;
}

/**
 * The last lines of a run.
 * @param again - second runs of the files that failed
 */
export function report(runs: readonly FileRun[], again: readonly FileRun[]): { lines: string[]; passed: boolean } {
  const slowest = runs.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  const lines = [`slowest ${slowest.length} of ${runs.length} test files`, ...slowest.map(lineOf)];
  const first = new Map(failedOnce(runs).map((run) => [run.file, run]));
  for (const { file, passed, output } of again) {
    const verdict = passed ? 'flaky: failed once, then passed alone' : 'failed twice';
    lines.push(`${verdict}: ${file} (outputs: ${first.get(file)?.output}, ${output})`);
  }
  const tried = new Set(again.map(({ file }) => file));
  const untried = [...first.keys()].filter((file) => !tried.has(file));
  for (const file of untried) lines.push(`failed: ${file} (output: ${first.get(file)?.output})`);
  return { lines, passed: untried.length === 0 && again.every(({ passed }) => passed) };
}

const lineOf = ({ file, ms, cpuMs }: FileRun): string =>
  `${seconds(ms)}  ${file}${cpuMs === undefined ? '' : ` (processor: ${seconds(cpuMs).trim()})`}`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(7)} s`;
