import type { EventData } from 'node:test';

/** What Node's runner says when a test ended, as far as it is used here. */
type Ended = Pick<EventData.TestPass, 'file' | 'nesting' | 'details'>;

/** Wall time of one test file in ms. */
export interface FileDuration {
  file: string;
  ms: number;
}

/**
 * A reporter for `node --test`: one JSON line for each file, with the sum of its outermost tests, in ms. For suites whose files share a process, where
 * nobody else can tell the files apart.
 */
// oxlint-disable-next-line no-default-export -- Node's runner loads the default export of a reporter
export default async function* durations(events: AsyncIterable<{ type: string; data: unknown }>): AsyncGenerator<string> {
  const sums = new Map<string, number>();
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { file, nesting, details } = data as Ended;
    if (nesting === 0 && file) sums.set(file, (sums.get(file) ?? 0) + details.duration_ms);
  }
  for (const [file, ms] of sums) yield `${JSON.stringify({ file, ms: Math.round(ms) } satisfies FileDuration)}\n`;
}
