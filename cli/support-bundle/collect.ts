import { describeError } from '../../base/errors.ts';
import { printableLines } from '../output/printable.ts';
import { withinBounds } from './bounds.ts';
import { redactText } from './redact/text.ts';
import type { KnownValues } from './redact/known-values.ts';
import type { Clock } from '../../base/clock.ts';
import type { Bounds, Collector, Contents, Failure, Found } from './collector.ts';

/** Collectors at a time. */
const AT_ONCE = 4;

/** Runs every collector. One that fails, or takes longer than its time, is an entry of `errors`; none stops another. */
export async function collectAll(
  { clock, signal }: { clock: Pick<Clock, 'after'>; signal: AbortSignal },
  collectors: readonly Collector[],
  known: KnownValues,
  bounds: Bounds,
): Promise<Contents> {
  const found: Found[][] = collectors.map(() => []);
  const errors: Failure[] = [];
  const queue = [...collectors.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [at, collector] = next;
      signal.throwIfAborted();
      try {
        found[at] = [...(await inTime(clock, signal, bounds.time, (until) => collector.collect(until)))];
      } catch (error) {
        signal.throwIfAborted();
        errors.push({ collector: collector.name, why: redactText(describeError(error)) });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const swept = found.flat().map((one): Found => {
    const path = known.sweep(one.path);
    if ('leftOut' in one) return { path, leftOut: known.sweep(one.leftOut) };
    const text = printableLines(known.sweep(one.text));
    return { ...one, path, text, ...(one.note === undefined ? {} : { note: known.sweep(one.note) }) };
  });
  return withinBounds(
    swept,
    errors.map(({ collector, why }) => ({ collector, why: known.sweep(why) })),
    bounds,
  );
}

async function inTime<T>(
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
  ms: number,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  // Nobody waits for it any more once the work is done.
  promise.catch(() => undefined);
  const stop = clock.after(ms, () => late.abort(new Error(`no result within ${ms / 1000} s`)));
  const until = AbortSignal.any([signal, late.signal]);
  until.addEventListener('abort', () => reject(until.reason as Error), { once: true });
  try {
    return await Promise.race([work(until), promise]);
  } finally {
    stop();
  }
}
