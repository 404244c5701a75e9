import { abortReason } from '../../base/waiting.ts';

/** What a request does to a server, as far as its load goes. */
export type PriorityLevel = 'reading' | 'listing' | 'writing';

/** How many requests may be under way at once. */
export type Limits = Readonly<Record<PriorityLevel, number>>;

/**
 * Together with a dozen watches below 100, the streams that newer API servers allow on one connection: more would wait there unseen. A list costs a server
 * (and its priority-and-fairness queues) as much as many other requests do.
 */
export const defaultLimits: Limits = { reading: 32, listing: 4, writing: 50 };

/** So many at once; the others wait in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`a limit of ${count} requests lets none through`);
    this.#free = count;
  }

  /** Whether `take` gives one at once. */
  get isFree(): boolean {
    return this.#free > 0;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A slot, to be disposed of once. @throws the signal's reason; then no slot is taken */
  take(signal: AbortSignal): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortReason(signal));
      const given = () => {
        signal.removeEventListener('abort', abort);
        resolve({ [Symbol.dispose]: () => this.#release() });
      };
      const abort = () => {
        this.#waiting.delete(given);
        reject(abortReason(signal));
      };
      if (this.#free > 0) {
        this.#free--;
        return given();
      }
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.add(given);
      return undefined;
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
