/** A span of time, or a point on the wall clock (since 1970), in milliseconds. */
export type Millis = number;

/** The two clocks of a machine. Spans are measured on `monotonic`, which no administrator and no NTP can move. */
export interface Clock {
  /** Wall clock, ms since 1970. Jumps when it is set: only for times that people read. */
  now(): Millis;
  /** Ms since some fixed moment, never backwards. Its zero differs between processes. */
  monotonic(): Millis;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: Millis, signal?: AbortSignal): Promise<void>;
  /** Calls `ring` once, after `ms`. For timers that are nearly always stopped: a sleep costs a promise and a signal more. @returns stops the timer */
  after(ms: Millis, ring: () => void): () => void;
}

/** RFC 3339 in UTC with whole seconds, as the API writes times of objects. @throws {RangeError} for an invalid time */
export function rfc3339(ms: Millis): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

// setTimeout fires at once for a longer delay.
const MAX_TIMER_MS: Millis = 2 ** 31 - 1;

/** Milliseconds of the machine's monotonic clock. Not `performance.now()`: the first use of `performance` loads a module, which costs an agent's start 4 ms. */
export function monotonicMs(): Millis {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/** The clock of this machine. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: monotonicMs,
  sleep: async (ms, signal) => {
    for (let left = ms; left > 0; left -= MAX_TIMER_MS) await delay(Math.min(left, MAX_TIMER_MS), signal);
  },
  after: (ms, ring) => {
    let timer: NodeJS.Timeout;
    const wait = (left: Millis): void => {
      timer = setTimeout(() => (left > MAX_TIMER_MS ? wait(left - MAX_TIMER_MS) : ring()), Math.min(left, MAX_TIMER_MS));
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

// Not setTimeout of node:timers/promises: it rejects with a new AbortError, whose stack costs more than the request that the timer limits.
function delay(ms: Millis, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
