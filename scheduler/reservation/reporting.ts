import { type Millis, rfc3339 } from '../../base/clock.ts';
import type { EventOccurrence, ObjectReference } from '../../kube/controller/event.ts';
import type { Dropped, Reservation, Reservations } from './contract.ts';
import type { Meters } from '../../kube/process/contract.ts';
import type { Requests } from '../pod/pod-info.ts';

/** An event; the caller knows the object that it is about. */
export type ReservationEvent = Pick<EventOccurrence, 'type' | 'reason' | 'message'>;

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

/** About the owner. A reservation that ends as intended, as when the set is scaled down, is no warning. */
export function endedEvent({ reservation: { namespace, name, node }, why, result }: Dropped): ReservationEvent {
  const message = `Room of pod ${namespace}/${name} on node ${node} is given up: ${why}`;
  return { type: result === 'expired' ? 'Warning' : 'Normal', reason: 'ReservationExpired', message };
}

/** About the owner: no placeholder pod shows its reservation. @param why - in the server's words */
export function unseenEvent({ namespace, name, node }: Reservation, why: string): ReservationEvent {
  const message = `Room of pod ${namespace}/${name} on node ${node} is not shown to other schedulers: ${why}`;
  return { type: 'Warning', reason: 'ReservationNotMirrored', message };
}

export function ownerReference({ namespace, owner: { apiVersion, kind, name, uid } }: Reservation): ObjectReference {
  return { apiVersion, kind, name, namespace, uid, resourceVersion: '', fieldPath: '' };
}

/** used: the successor runs on the node; moved: on another node; expired: no successor in time; dropped: the reason for it ceased. */
export type Result = 'used' | 'moved' | 'expired' | 'dropped';

export interface ReservationMeters {
  /** Called once for each reservation: when its successor is bound, or when the reservation is dropped. */
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

/** A reservation as JSON: what `/debug/reservations` lists. Times are ISO 8601. */
export interface ReservationView {
  /** Of the successor, which does not exist yet or is pending. */
  namespace: string;
  name: string;
  node: string;
  /** `StatefulSet/web`. */
  owner: string;
  priority: number;
  state: 'active' | 'claimed';
  purpose: 'upgrade' | 'recreate';
  why: string;
  /** Requests that other pods see on the node: `{cpu: '500m', memory: '1073741824'}`. */
  requests: Record<string, string>;
  /** UID of the successor. */
  claimedBy: string | null;
  createdAt: string;
  expiresAt: string;
}

/** @param shown - converts a time of the reservations to the wall clock. @returns by namespace and name */
export function reservationViews(reservations: readonly Reservation[], shown = (at: Millis): Millis => at): ReservationView[] {
  return reservations
    .map((reservation) => viewOf(reservation, shown))
    .toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name) || compare(a.node, b.node));
}

function viewOf({ owner, heldPod, claimant, createdAt, expiresAt, ...rest }: Reservation, shown: (at: Millis) => Millis): ReservationView {
  const { namespace, name, node, priority, state, purpose, why } = rest;
  return {
    namespace,
    name,
    node,
    owner: `${owner.kind}/${owner.name}`,
    priority,
    state,
    purpose,
    why,
    requests: requestsText(heldPod.requests),
    claimedBy: claimant?.uid ?? null,
    createdAt: new Date(shown(createdAt)).toISOString(),
    expiresAt: new Date(shown(expiresAt)).toISOString(),
  };
}

function requestsText({ cpu, memory, ephemeral, scalars }: Requests): Record<string, string> {
  const amounts: [string, number, string][] = [
    ['cpu', cpu, 'm'],
    ['memory', memory, ''],
    ['ephemeral-storage', ephemeral, ''],
    ...[...scalars].map(([name, amount]): [string, number, string] => [name, amount, '']),
  ];
  return Object.fromEntries(amounts.filter(([, amount]) => amount > 0).map(([name, amount, unit]) => [name, `${amount}${unit}`]));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
