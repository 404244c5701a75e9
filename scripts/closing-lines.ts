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
