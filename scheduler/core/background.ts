import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/** What the scheduling loop sleeps on. */
export class LoopTrigger {
  #notified = Promise.withResolvers<void>();
  #isNotified = false;

  /** There may be something to do. */
  readonly notify = (): void => {
    if (this.#isNotified) return;
    this.#isNotified = true;
    this.#notified.resolve();
  };

  /** Resolves when notified since the last call, or after `ms`. */
  async wait(clock: Clock, ms: Millis | undefined): Promise<void> {
    if (!this.#isNotified) {
      const stop = ms === undefined ? undefined : clock.after(ms, this.notify);
      await this.#notified.promise;
      stop?.();
    }
    this.#isNotified = false;
    this.#notified = Promise.withResolvers<void>();
  }
}

/** Work beside the loop: binding cycles and preemption. */
export class BackgroundTasks {
  readonly #log: Log;
  readonly #notify: () => void;
  readonly #running = new Set<Promise<void>>();

  /** @param notify - called when one has ended */
  constructor(log: Log, notify: () => void) {
    this.#log = log;
    this.#notify = notify;
  }

  /** @param what - for the log @returns when it has ended; never rejects */
  run(what: string, work: Promise<void>, signal: AbortSignal): Promise<void> {
    const tracked = work
      .catch((error: unknown) => {
        if (!signal.aborted) this.#log.error(`unexpected error in ${what}`, { error: describeError(error) });
      })
      .finally(() => {
        this.#running.delete(tracked);
        this.#notify();
      });
    this.#running.add(tracked);
    return tracked;
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
