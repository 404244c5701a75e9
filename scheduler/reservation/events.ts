import type { Millis } from '../../base/clock.ts';
import type { Happening, ObjectReference } from '../../kube/controller/event.ts';
import type { Dropped, Reservation } from './contract.ts';

/** What users are told: about whom is with the caller, for only the owner is known here. */
export type Told = Pick<Happening, 'type' | 'reason' | 'message'>;

/** About the owner. */
export function createdEvent({ namespace, name, node, expiresAt }: Reservation): Told {
  const message = `Room of pod ${namespace}/${name} on node ${node} is kept until ${timeOf(expiresAt)}`;
  return { type: 'Normal', reason: 'ReservationCreated', message };
}

/** About the successor, once it is bound. @param node - where it is */
export function placedEvent({ node: kept }: Reservation, node: string): Told {
  if (node === kept) return { type: 'Normal', reason: 'ReservationUsed', message: `Placed in the room kept on node ${kept}` };
  return { type: 'Normal', reason: 'ReservationMissed', message: `Placed on node ${node} instead of the room kept on node ${kept}` };
}

/** About the owner. Only what nobody meant to happen is a warning: a set that shrinks has no use for the room. */
export function endedEvent({ reservation: { namespace, name, node }, why, result }: Dropped): Told {
  const message = `Room of pod ${namespace}/${name} on node ${node} is given up: ${why}`;
  return { type: result === 'expired' ? 'Warning' : 'Normal', reason: 'ReservationExpired', message };
}

/** About the owner: nothing stands for its room. @param why - in the server's words */
export function unseenEvent({ namespace, name, node }: Reservation, why: string): Told {
  const message = `Room of pod ${namespace}/${name} on node ${node} is not shown to other schedulers: ${why}`;
  return { type: 'Warning', reason: 'ReservationNotMirrored', message };
}

export function ownerReference({ namespace, owner: { apiVersion, kind, name, uid } }: Reservation): ObjectReference {
  return { apiVersion, kind, name, namespace, uid, resourceVersion: '', fieldPath: '' };
}

function timeOf(ms: Millis): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
