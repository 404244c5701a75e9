import type { EventData } from 'node:test';

/** The used fields of the runner's event at the end of a test. */
type Ended = Pick<EventData.TestPass, 'file' | 'nesting' | 'details'>;

/** Wall time of one test file in ms, and whether all its tests passed. */
export interface FileDuration {
  file: string;
  ms: number;
  passed: boolean;
}

/**
 * A reporter for `node --test`: one JSON line for each file, with the sum of its outermost tests, in ms, and whether they passed. For suites whose files
 * share a process, where the output does not separate the files.
 */
// oxlint-disable-next-line no-default-export -- Node's runner loads the default export of a reporter
export default async function* durations(events: AsyncIterable<{ type: string; data: unknown }>): AsyncGenerator<string> {
  const sums = new Map<string, number>();
  const failed = new Set<string>();
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { file, nesting, details } = data as Ended;
    if (nesting !== 0 || !file) continue;
    sums.set(file, (sums.get(file) ?? 0) + details.duration_ms);
    if (type === 'test:fail') failed.add(file);
  }
  for (const [file, ms] of sums)
    yield `${JSON.stringify({ file, ms: Math.round(ms), passed: !failed.has(file) } satisfies FileDuration)}\n`;
}
