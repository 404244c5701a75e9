import type { Clock, Millis } from '../../base/clock.ts';

/** The time that a call was given is over. */
export class DeadlineError extends Error {
  override name = 'DeadlineError';
  constructor(afterMs: Millis) {
    super(`no answer within ${afterMs} ms`);
  }
}

/** A signal that aborts when the caller's does, and when the time is up. Disposing stops its timer. */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #forward = () => this.#controller.abort(this.#caller?.reason);
  #timer = new AbortController();

  constructor(clock: Clock, afterMs: Millis, caller?: AbortSignal) {
    this.#clock = clock;
    this.#caller = caller;
    this.signal = this.#controller.signal;
    if (caller?.aborted) this.#forward();
    else caller?.addEventListener('abort', this.#forward, { once: true });
    this.#start(afterMs);
  }

  /** Starts the time anew; undefined: there is no limit any more. */
  reset(afterMs: Millis | undefined): void {
    this.#timer.abort();
    if (afterMs !== undefined) this.#start(afterMs);
  }

  [Symbol.dispose](): void {
    this.#timer.abort();
    this.#caller?.removeEventListener('abort', this.#forward);
  }

  #start(afterMs: Millis): void {
    this.#timer = new AbortController();
    this.#clock.sleep(afterMs, this.#timer.signal).then(
      () => this.#controller.abort(new DeadlineError(afterMs)),
      () => {}, // stopped in time
    );
  }
}
