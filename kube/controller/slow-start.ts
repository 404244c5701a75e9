export interface SlowStartLimits {
  /** Calls under way before the first one has succeeded. @default 1 */
  first?: number;
  /** Calls under way at any time. @default no limit */
  largest?: number;
}

export interface SlowStarted<T, R> {
  done: { item: T; value: R }[];
  failed: { item: T; error: unknown }[];
  /** Never tried, for something failed before, or the signal aborted. */
  skipped: T[];
}

/**
 * Does `call` for every item, in their order, with a window that grows: as many are under way at once as have succeeded so far, and `first`. Nothing begins after
 * the first failure, so that a quota that is used up costs one refused call and not a thousand. Never throws; results are in the order of the items.
 *
 * Upstream (`slowStartBatch`) sends batches of 1, 2, 4, ... and the next one when the whole of the one before has been answered. As many are refused here at most, but
 * one slow answer keeps no other call waiting, and a batch does not have to drain before the server gets more to do.
 * @throws {RangeError} for limits below 1
 */
export function slowStart<T, R>(
  items: readonly T[],
  call: (item: T) => Promise<R>,
  { first = 1, largest = Infinity, signal }: SlowStartLimits & { signal?: AbortSignal } = {},
): Promise<SlowStarted<T, R>> {
  if (!(first >= 1 && largest >= 1)) throw new RangeError(`a window of ${Math.min(first, largest)} lets no call through`);
  const outcomes: ({ value: R } | { error: unknown })[] = [];
  let [next, underWay, succeeded, failed] = [0, 0, 0, false];
  return new Promise((resolve) => {
    const attempt = async (at: number, item: T): Promise<void> => {
      try {
        outcomes[at] = { value: await call(item) };
        succeeded++;
      } catch (error) {
        outcomes[at] = { error };
        failed = true;
      }
      underWay--;
      proceed();
    };
    const mayBegin = (): boolean =>
      !failed && signal?.aborted !== true && next < items.length && underWay < Math.min(first + succeeded, largest);
    const proceed = (): void => {
      while (mayBegin()) {
        const at = next++;
        underWay++;
        void attempt(at, items[at] as T);
      }
      if (underWay === 0) resolve(sorted(items, outcomes));
    };
    proceed();
  });
}

function sorted<T, R>(items: readonly T[], outcomes: readonly ({ value: R } | { error: unknown })[]): SlowStarted<T, R> {
  const result: SlowStarted<T, R> = { done: [], failed: [], skipped: items.slice(outcomes.length) };
  for (const [at, outcome] of outcomes.entries()) {
    const item = items[at] as T;
    if ('error' in outcome) result.failed.push({ item, error: outcome.error });
    else result.done.push({ item, value: outcome.value });
  }
  return result;
}
