import type { Millis } from '../../base/clock.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { pods } from '../../kube/api/resources.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Reservation } from './contract.ts';
import type { Parts } from '../core/state.ts';
import { roomDropped, type RoomTeller } from './wakes.ts';

/** So long before room is given up, the API server is asked whether the pod that went is still there: the caches do not see pods that have ended. */
const ASK_BEFORE_MS: Millis = 5_000;

/** Gives up room whose time is over, and keeps on that of pods which have ended and are not gone yet: their successors cannot come before that. */
export class ClaimedRoomKeeper {
  readonly #parts: Parts;
  readonly #teller: RoomTeller;
  readonly #client: Pick<Client, 'get'>;
  readonly #asked = new Map<string, Millis>();
  readonly #signal: () => AbortSignal;

  constructor(parts: Parts, teller: RoomTeller, client: Pick<Client, 'get'>, signal: () => AbortSignal) {
    this.#parts = parts;
    this.#teller = teller;
    this.#client = client;
    this.#signal = signal;
  }

  /** @returns when to call again; undefined: nothing is kept */
  tick(): Millis | undefined {
    const { reservations, now } = this.#parts;
    if (reservations.size === 0) {
      this.#asked.clear();
      return undefined;
    }
    const at = now();
    for (const reservation of reservations.expiringWithin(ASK_BEFORE_MS, at)) this.#ask(reservation);
    roomDropped(this.#parts, this.#teller, reservations.expire(at));
    const { nextExpiry } = reservations;
    return nextExpiry === undefined ? undefined : Math.max(at + 100, nextExpiry - ASK_BEFORE_MS);
  }

  #ask(reservation: Reservation): void {
    const { oldUid, namespace, name, expiresAt } = reservation;
    if (this.#asked.get(oldUid) === expiresAt) return;
    this.#asked.set(oldUid, expiresAt);
    const { reservations, now } = this.#parts;
    this.#client.get(pods, { namespace, name }, { signal: this.#signal() }).then(
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
