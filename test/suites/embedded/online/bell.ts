import { realClock } from '../../../../base/clock.ts';

/** Longest time that anything here may take to happen: a busy machine, not the design, needs it. */
export const PATIENCE_MS = 60_000;

/** Looks on for a second, which a busy machine makes longer. @returns how many seconds it was since `from` on the monotonic clock */
export async function secondsSince(from: number): Promise<number> {
  await realClock.sleep(1000);
  return (realClock.monotonic() - from) / 1000;
}

/** Rung whenever something happened. Those who wait for a condition look again then, and at no other time. */
export class Bell {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  /**
   * The first thing that `look` finds; it is asked now and at each ring.
   * @param what - finishes "waited in vain for"
   * @param context - what else to say then
   */
  async until<T>(what: string, look: () => T | undefined | Promise<T | undefined>, context: () => string = () => ''): Promise<T> {
    const found = Promise.withResolvers<T>();
    const over = new AbortController();
    let looks = Promise.resolve();
    const again = (): void => {
      looks = looks.then(async () => {
        if (over.signal.aborted) return;
        const seen = await look();
        if (seen !== undefined) found.resolve(seen);
      }).catch(found.reject); // prettier-ignore
    };
    this.#waiting.add(again);
    again();
    realClock.sleep(PATIENCE_MS, over.signal).then(
      () => found.reject(new Error(`waited in vain for ${what}${context()}`)),
      () => {},
    );
    try {
      return await found.promise;
    } finally {
      this.#waiting.delete(again);
      over.abort();
    }
  }
}
