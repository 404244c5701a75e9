/** The summary of a run of Node's test runner: `tests`, `pass`, `fail`, ... */
export type Closing = ReadonlyMap<string, number>;

const LINE = /^(?:ℹ|#) (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([0-9.]+)$/gm;

/** Parses the last lines of a run, in either of the runner's two formats. */
export function closingLines(output: string): Closing {
  return new Map([...output.matchAll(LINE)].map(([, name = '', count]): [string, number] => [name, Number(count)]));
}

/** The sums of counts and times of several runs. */
export function mergedClosing(runs: readonly Closing[]): string {
  const merged = new Map<string, number>();
  for (const run of runs) for (const [name, count] of run) merged.set(name, (merged.get(name) ?? 0) + count);
  return [`ℹ all ${runs.length} parts together`, ...[...merged].map(([name, count]) => `ℹ ${name} ${count}`)].join('\n') + '\n';
}

/** The summary without failed tests, which are counted in the second run of their file. */
export function withoutFailed(closing: Closing): Closing {
  const failed = closing.get('fail') ?? 0;
  return new Map([...closing].map(([name, count]) => [name, name === 'fail' ? 0 : name === 'tests' ? count - failed : count]));
}

const FAILING = '✖ failing tests:';

/** The runner's report of failed tests from the end of its output; the whole output if the run was cut short; '' if none failed. */
export function failingTests({ code, text }: { code: number; text: string }): string {
  if (code === 0) return '';
  const at = text.lastIndexOf(FAILING);
  return `${text.slice(Math.max(0, at)).trimEnd()}\n`;
}
