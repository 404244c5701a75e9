import { monotonicMs, type Millis } from '../../base/clock.ts';
import type { PingOptions } from './http2-connection.ts';

/**
 * HTTP/1.1 has no PING: while answers are pending and no byte arrives, a probe request is sent from time to time. TCP's own probes detect a lost peer, but
 * the kernel of a frozen process still answers them.
 */
export class Liveness {
  readonly #probe: (timeoutMs: Millis) => Promise<void>;
  readonly #options: PingOptions;
  readonly #dead: (cause: unknown) => void;
  #pending = 0;
  #receivedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param probe - resolves with any answer */
  constructor(probe: (timeoutMs: Millis) => Promise<void>, options: PingOptions, dead: (cause: unknown) => void) {
    this.#probe = probe;
    this.#options = options;
    this.#dead = dead;
  }

  /** A request starts to wait for its answer. */
  begin(): void {
    if (this.#pending++ > 0) return;
    this.received();
    this.#arm(this.#options.everyMs);
  }

  end(): void {
    if (--this.#pending === 0) clearTimeout(this.#timer);
  }

  /** Bytes arrived from the server, on any socket. */
  received(): void {
    this.#receivedAt = monotonicMs();
  }

  #arm(afterMs: Millis): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#check(), afterMs);
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    const { everyMs, timeoutMs } = this.#options;
    const quietMs = monotonicMs() - this.#receivedAt;
    if (quietMs < everyMs) return this.#arm(everyMs - quietMs);
    try {
      await this.#probe(timeoutMs);
    } catch (error) {
      if (this.#pending > 0) this.#dead(error);
      return;
    }
    this.received();
    if (this.#pending > 0) this.#arm(everyMs);
  }
}
