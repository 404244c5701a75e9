import { rfc3339 } from '../../base/clock.ts';
import type { Happening, ObjectReference } from '../../kube/controller/event.ts';
import type { Dropped, Reservation, Reservations } from './contract.ts';
import type { Meters } from '../../kube/process/runtime.ts';

/** What users are told: about whom is with the caller, for only the owner is known here. */
export type ReservationEvent = Pick<Happening, 'type' | 'reason' | 'message'>;

/** About the owner. */
export function createdEvent({ namespace, name, node, expiresAt }: Reservation): ReservationEvent {
  const message = `Room of pod ${namespace}/${name} on node ${node} is kept until ${rfc3339(expiresAt)}`;
  return { type: 'Normal', reason: 'ReservationCreated', message };
}

/** About the successor, once it is bound. @param node - where it is */
export function placedEvent({ node: kept }: Reservation, node: string): ReservationEvent {
  if (node === kept) return { type: 'Normal', reason: 'ReservationUsed', message: `Placed in the room kept on node ${kept}` };
  return { type: 'Normal', reason: 'ReservationMissed', message: `Placed on node ${node} instead of the room kept on node ${kept}` };
}

/** About the owner. Only what nobody meant to happen is a warning: a set that shrinks has no use for the room. */
export function endedEvent({ reservation: { namespace, name, node }, why, result }: Dropped): ReservationEvent {
  const message = `Room of pod ${namespace}/${name} on node ${node} is given up: ${why}`;
  return { type: result === 'expired' ? 'Warning' : 'Normal', reason: 'ReservationExpired', message };
}

/** About the owner: nothing stands for its room. @param why - in the server's words */
export function unseenEvent({ namespace, name, node }: Reservation, why: string): ReservationEvent {
  const message = `Room of pod ${namespace}/${name} on node ${node} is not shown to other schedulers: ${why}`;
  return { type: 'Warning', reason: 'ReservationNotMirrored', message };
}

export function ownerReference({ namespace, owner: { apiVersion, kind, name, uid } }: Reservation): ObjectReference {
  return { apiVersion, kind, name, namespace, uid, resourceVersion: '', fieldPath: '' };
}

/** used: the successor is in its room; moved: elsewhere; expired: nobody came in time; dropped: the reason to keep it went. */
export type Result = 'used' | 'moved' | 'expired' | 'dropped';

export interface ReservationMeters {
  /** Once for each room that was kept: when its successor is bound, or when it is given up. */
  ended(result: Result): void;
}

export function reservationMeters(meters: Meters, kept: Pick<Reservations, 'size'>): ReservationMeters {
  meters.gauge('reservations_active', 'Number of reservations that are held now', () => kept.size);
  const total = meters.counter('reservations_total', 'Number of reservations that ended, by result', ['result']);
  return { ended: (result) => total({ result }) };
}

/** @param node - where the successor was bound */
export function resultOf(released: Reservation, node: string): Result {
  return released.node === node ? 'used' : 'moved';
}
