export interface BatchLimits {
  /** @default 1 */
  first?: number;
  /** @default no limit */
  largest?: number;
}

/**
 * Batches that together hold `total`: each twice the one before, none above `largest`, the last with what remains. Pure.
 * @throws {RangeError} for limits below 1
 */
export function batchSizes(total: number, { first = 1, largest = Infinity }: BatchLimits = {}): number[] {
  if (!(first >= 1 && largest >= 1)) throw new RangeError(`batches of ${Math.min(first, largest)} come to no end`);
  const sizes: number[] = [];
  for (let left = total, size = Math.min(first, largest); left > 0; left -= size, size = Math.min(size * 2, largest)) {
    sizes.push(Math.min(size, left));
  }
  return sizes;
}

export interface SlowStarted<T, R> {
  done: { item: T; value: R }[];
  failed: { item: T; error: unknown }[];
  /** Never tried, for something failed before, or the signal aborted. */
  skipped: T[];
}

/**
 * Does `call` for every item, in batches that grow (1, 2, 4, ...): each batch at once, the next after it. A batch in which something failed is the
 * last one, so that a quota that is used up costs one refused call and not a thousand. Never throws; results are in the order of the items.
 */
export async function slowStart<T, R>(
  items: readonly T[],
  call: (item: T) => Promise<R>,
  limits: BatchLimits & { signal?: AbortSignal } = {},
): Promise<SlowStarted<T, R>> {
  const result: SlowStarted<T, R> = { done: [], failed: [], skipped: [] };
  let at = 0;
  for (const size of batchSizes(items.length, limits)) {
    if (limits.signal?.aborted === true) break;
    const batch = items.slice(at, at + size);
    at += size;
    // Through `async`, so that a call that throws at once fails like one that rejects.
    const settled = await Promise.allSettled(batch.map(async (item) => call(item)));
    for (const [index, item] of batch.entries()) {
      const outcome = settled[index];
      if (outcome?.status === 'fulfilled') result.done.push({ item, value: outcome.value });
      else result.failed.push({ item, error: outcome?.reason });
    }
    if (result.failed.length > 0) break;
  }
  result.skipped = items.slice(at);
  return result;
}
