import type { Clock, Millis } from '../../base/clock.ts';

type Timer = { at: Millis; order: number; ring: () => void };

/** Time that stands still until a test moves it. Both clocks move together; `jump` sets the wall clock alone, as an admin or NTP does. */
export class FakeClock implements Clock {
  #wall: Millis;
  #monotonic: Millis = 1_000;
  #timers: Timer[] = [];
  #order = 0;

  constructor(start = '2026-03-01T00:00:00Z') {
    this.#wall = Date.parse(start);
  }

  now(): Millis {
    return this.#wall;
  }

  monotonic(): Millis {
    return this.#monotonic;
  }

  sleep(ms: Millis, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const stop = (): void => {
        cancel();
        reject(signal?.reason as Error);
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      signal?.addEventListener('abort', stop, { once: true });
      return undefined;
    });
  }

  after(ms: Millis, ring: () => void): () => void {
    const timer: Timer = { at: this.#monotonic + Math.max(ms, 0), order: (this.#order += 1), ring };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** How many wait for time to pass: what is left over at the end of a test was leaked. */
  get sleepers(): number {
    return this.#timers.length;
  }

  jump(ms: Millis): void {
    this.#wall += ms;
  }

  /** Lets time pass, timer after timer; everything that a timer starts comes to rest before the next one rings. */
  async advance(ms: Millis): Promise<void> {
    const until = this.#monotonic + ms;
    await atRest();
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at || a.order - b.order);
      if (!next) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#moveTo(next.at);
      next.ring();
      await atRest();
    }
    this.#moveTo(until);
  }

  #moveTo(at: Millis): void {
    this.#wall += at - this.#monotonic;
    this.#monotonic = at;
  }
}

/** Resolves when everything that runs on promises alone has come as far as it can. */
export async function atRest(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
