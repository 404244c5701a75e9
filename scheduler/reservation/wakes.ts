import type { PodInfo } from '../pod/pod-info.ts';
import type { Dropped, Reservation } from './contract.ts';
import { createdEvent, endedEvent, type Told } from './events.ts';
import type { Result } from './reservation-meters.ts';
import type { Parts } from '../core/state.ts';

/** What the outside hears of kept room. */
export interface RoomTeller {
  /** About the owner of the room. */
  told(reservation: Reservation, event: Told): void;
  ended(result: Result, reservation: Reservation): void;
}

/** Room that was taken is free again: for those whom it could be seen by. A more important pod never saw it. */
export function wakeForRoom({ queue }: Pick<Parts, 'queue'>, ghost: PodInfo, upTo: number): void {
  queue.wake({ kind: 'assigned-pod-deleted', before: ghost }, ({ priority }) => priority <= upTo);
}

/** A pod is not promised this node any more: it is there for whoever had to leave it alone, but for the pod itself. */
export function wakeForPromise({ queue }: Pick<Parts, 'queue'>, pod: PodInfo, node: string): void {
  const before = { ...pod, nodeName: node };
  queue.wake({ kind: 'assigned-pod-deleted', before }, ({ uid, priority }) => uid !== pod.uid && priority <= pod.priority);
}

/** Room was given up: told, counted, and offered to whoever had to leave it alone. */
export function roomDropped(parts: Pick<Parts, 'queue'>, teller: RoomTeller, dropped: readonly Dropped[]): void {
  for (const one of dropped) {
    const { reservation, result } = one;
    teller.told(reservation, endedEvent(one));
    teller.ended(result, reservation);
    wakeForRoom(parts, reservation.ghost, reservation.priority);
    if (reservation.claimant !== undefined) parts.queue.reorder(reservation.claimant.uid);
  }
}

export function roomMade({ shown }: Pick<Parts, 'shown'>, teller: RoomTeller, reservation: Reservation): void {
  teller.told(reservation, createdEvent({ ...reservation, expiresAt: shown(reservation.expiresAt) }));
}
