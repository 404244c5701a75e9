import type { Millis } from '../../base/clock.ts';
import type { Requests } from '../pod/requests.ts';
import type { Reservation } from './contract.ts';

/** Room that is kept, as JSON can say it: what `/debug/reservations` lists. Moments are ISO 8601. */
export interface ReservationView {
  /** Of the pod it is kept for, which is not there yet or waits. */
  namespace: string;
  name: string;
  node: string;
  /** `StatefulSet/web`. */
  owner: string;
  priority: number;
  state: 'active' | 'claimed';
  purpose: 'upgrade' | 'recreate';
  why: string;
  /** What others see taken of the node: `{cpu: '500m', memory: '1073741824'}`. */
  requests: Record<string, string>;
  /** Uid of the pod that waits for it. */
  claimedBy: string | null;
  createdAt: string;
  expiresAt: string;
}

/** @param shown - what the wall clock shows at a moment of the reservations'. @returns by namespace and name */
export function reservationViews(reservations: readonly Reservation[], shown = (at: Millis): Millis => at): ReservationView[] {
  return reservations
    .map((reservation) => roomOf(reservation, shown))
    .toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name) || compare(a.node, b.node));
}

function roomOf({ owner, heldPod, claimant, createdAt, expiresAt, ...room }: Reservation, shown: (at: Millis) => Millis): ReservationView {
  const { namespace, name, node, priority, state, purpose, why } = room;
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
