/** What a run of Node's test runner counts at its end: `tests`, `pass`, `fail`, ... */
export type Closing = ReadonlyMap<string, number>;

const LINE = /^(?:ℹ|#) (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([0-9.]+)$/gm;

/** The last lines of a run, in either of the runner's two forms. */
export function closingLines(output: string): Closing {
  return new Map([...output.matchAll(LINE)].map(([, name = '', count]): [string, number] => [name, Number(count)]));
}

/** Of several runs: counts and times added up. */
export function mergedClosing(runs: readonly Closing[]): string {
  const merged = new Map<string, number>();
  for (const run of runs) for (const [name, count] of run) merged.set(name, (merged.get(name) ?? 0) + count);
  return [`ℹ all ${runs.length} parts together`, ...[...merged].map(([name, count]) => `ℹ ${name} ${count}`)].join('\n') + '\n';
}

/** The same without the tests that failed, which count where their file is run again. */
export function withoutFailed(closing: Closing): Closing {
  const failed = closing.get('fail') ?? 0;
  return new Map([...closing].map(([name, count]) => [name, name === 'fail' ? 0 : name === 'tests' ? count - failed : count]));
}

const FAILING = '✖ failing tests:';

/** What the runner says of the tests that failed, at the end of its output; all of the output where it did not come to its end; '' where none failed. */
export function failingTests({ code, text }: { code: number; text: string }): string {
  if (code === 0) return '';
  const at = text.lastIndexOf(FAILING);
  return `${text.slice(Math.max(0, at)).trimEnd()}\n`;
}
