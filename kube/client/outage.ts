import { TransportError } from './errors.ts';
import type { TransportProblem } from './errors.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';

/** Somebody who reads the log in the middle of an outage finds it there. */
const REMIND_MS: Millis = 10 * 60_000;
/** What everybody who calls this server meets alike. */
const everybodys: ReadonlySet<TransportProblem> = new Set(['unreachable', 'tls', 'timeout', 'cut']);

/** A server that cannot be reached fails every cache and the lease of a process at once: this says so in one line, and again every 10 minutes. */
export class Outage {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Log;
  readonly #waiting = new Set<string>();
  #since: Millis = 0;
  #saidAt: Millis = 0;

  constructor(clock: Pick<Clock, 'monotonic'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * A call failed.
   * @param caller - what it was for: `pods`, `lease`
   * @returns whether the server cannot be reached; then this has said so, and its caller need not
   */
  met(caller: string, error: unknown): boolean {
    if (!(error instanceof TransportError) || !everybodys.has(error.problem)) {
      this.over(caller);
      return false;
    }
    const now = this.#clock.monotonic();
    const begins = this.#waiting.size === 0;
    if (begins) this.#since = now;
    this.#waiting.add(caller);
    if (begins) {
      this.#saidAt = now;
      this.#log.warn('cannot reach the API server, retrying; details with -v', { error: error.message });
    } else if (now - this.#saidAt >= REMIND_MS) {
      this.#saidAt = now;
      const facts = { error: error.message, waiting: [...this.#waiting].toSorted().join(','), forMs: Math.round(now - this.#since) };
      this.#log.warn('still cannot reach the API server, retrying; details with -v', facts);
    }
    return true;
  }

  /** The server answered. @returns whether it was waited for */
  over(caller: string): boolean {
    if (!this.#waiting.delete(caller)) return false;
    if (this.#waiting.size === 0)
      this.#log.info('the API server is reachable again', { afterMs: Math.round(this.#clock.monotonic() - this.#since) });
    return true;
  }
}
