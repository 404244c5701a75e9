import type { Millis } from '../../base/clock.ts';
import { pods } from '../../kube/api/resources.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import type { Dropped, Reservation, Reservations } from './contract.ts';

/** So long before room is given up, the API server is asked whether the pod that went is still there: the caches do not see pods that have ended. */
const ASK_BEFORE_MS: Millis = 5_000;

/** Gives up room whose time is over, and keeps on that of pods which have ended and are not gone yet: their successors cannot come before that. */
export class ReservationExpiry {
  readonly #reservations: Reservations;
  readonly #now: () => Millis;
  readonly #client: Pick<Client, 'get'>;
  readonly #dropped: (dropped: readonly Dropped[]) => void;
  readonly #asked = new Map<string, Millis>();

  /** @param dropped - called with what has expired */
  constructor(
    { reservations, now, client }: { reservations: Reservations; now: () => Millis; client: Pick<Client, 'get'> },
    dropped: (dropped: readonly Dropped[]) => void,
  ) {
    this.#reservations = reservations;
    this.#now = now;
    this.#client = client;
    this.#dropped = dropped;
  }

  /** @returns when to call again; undefined: nothing is kept */
  tick(signal: AbortSignal): Millis | undefined {
    const [reservations, now] = [this.#reservations, this.#now];
    if (reservations.size === 0) {
      this.#asked.clear();
      return undefined;
    }
    const at = now();
    for (const reservation of reservations.expiringWithin(ASK_BEFORE_MS, at)) this.#ask(reservation, signal);
    this.#dropped(reservations.expire(at));
    const { nextExpiry } = reservations;
    return nextExpiry === undefined ? undefined : Math.max(at + 100, nextExpiry - ASK_BEFORE_MS);
  }

  #ask(reservation: Reservation, signal: AbortSignal): void {
    const { oldUid, namespace, name, expiresAt } = reservation;
    if (this.#asked.get(oldUid) === expiresAt) return;
    this.#asked.set(oldUid, expiresAt);
    const [reservations, now] = [this.#reservations, this.#now];
    this.#client.get(pods, { namespace, name }, { signal }).then(
      ({ metadata }) => {
        if (metadata.uid === oldUid) reservations.oldStillThere(reservation, now());
      },
      (error: unknown) => {
        // Without an answer it ends when it was to end.
        if (!isNotFound(error)) this.#asked.delete(oldUid);
      },
    );
  }
}
