import type { Meters } from '../../kube/process/meters.ts';
import type { Reservation, Reservations } from './contract.ts';

/** used: the successor is in its room; moved: elsewhere; expired: nobody came in time; dropped: the reason to keep it went. */
export type Result = 'used' | 'moved' | 'expired' | 'dropped';

export interface ReservationMeters {
  /** Once for each room that was kept: when its successor is bound, or when it is given up. */
  ended(result: Result): void;
}

export function reservationMeters(meters: Meters, kept: Pick<Reservations, 'size'>): ReservationMeters {
  meters.gauge('reservations_active', 'Rooms on nodes that are kept for upgrading pods now', () => kept.size);
  const total = meters.counter('reservations_total', 'Rooms that were kept for upgrading pods, by how that ended', ['result']);
  return { ended: (result) => total({ result }) };
}

/** @param node - where the successor was bound */
export function resultOf(released: Reservation, node: string): Result {
  return released.node === node ? 'used' : 'moved';
}
