import type { Clock, Millis } from '../../base/clock.ts';

/** Numbers alone are written this often at most: a thousand pods that become ready within a second are worth ten writes. */
const MIN_INTERVAL: Millis = 100;

/** When the status of each set was last written. */
export class StatusThrottle {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #at = new Map<string, Millis>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Ms until numbers may be written again. @param uid - the set's */
  heldMs(uid: string): Millis {
    const at = this.#at.get(uid);
    return at === undefined ? 0 : Math.max(0, Math.ceil(at + MIN_INTERVAL - this.#clock.monotonic()));
  }

  written(uid: string): void {
    this.#at.set(uid, this.#clock.monotonic());
  }

  /** The set is gone. */
  forget(uid: string): void {
    this.#at.delete(uid);
  }
}
