import type { Clock, Millis } from '../../base/clock.ts';
import type { Credentials, Endpoint } from './credentials.ts';

/** The certificate, the authorities or the server changed: the watch has to be opened again. */
export class RotatedError extends Error {
  override name = 'RotatedError';
}

interface OpenWatch {
  endpoint: Endpoint;
  end(reason: RotatedError): void;
}

/**
 * Looks at the credentials while watches are open, and ends those that were made with others. A quiet node sends no request for minutes; without this
 * look its watch would stay on a certificate that was taken back.
 */
export class Rotation {
  readonly #credentials: Pick<Credentials, 'identity'>;
  readonly #clock: Clock;
  readonly #everyMs: Millis;
  readonly #open = new Set<OpenWatch>();
  #looking: AbortController | undefined;

  constructor(credentials: Pick<Credentials, 'identity'>, clock: Clock, everyMs: Millis) {
    this.#credentials = credentials;
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Counts a watch until it is disposed of. `end` is called at most once. */
  follow(endpoint: Endpoint, end: (reason: RotatedError) => void): Disposable {
    const watch = { endpoint, end };
    this.#open.add(watch);
    if (this.#looking === undefined) {
      this.#looking = new AbortController();
      void this.#look(this.#looking.signal);
    }
    return {
      [Symbol.dispose]: () => {
        this.#open.delete(watch);
        if (this.#open.size > 0) return;
        this.#looking?.abort();
        this.#looking = undefined;
      },
    };
  }

  async #look(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      try {
        await this.#clock.sleep(this.#everyMs, stopped);
        const { endpoint } = await this.#credentials.identity();
        for (const watch of this.#open) {
          if (watch.endpoint === endpoint) continue;
          this.#open.delete(watch);
          watch.end(new RotatedError('the credentials changed'));
        }
      } catch {
        // The last watch ended; or the credentials cannot be read, and they say so themselves.
      }
    }
  }
}
