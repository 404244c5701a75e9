import type { Millis } from '../../../../base/clock.ts';
import type { Key } from '../../../../kube/cache/contract.ts';
import type { Node, StatefulSet } from '../../../../scheduler/types.ts';
import type { Reservation, Reservations } from '../../../../scheduler/reservation/contract.ts';
import { type Ttls, whyNotOnNode, whySetMakesNone } from '../../../../scheduler/reservation/lifetime.ts';

/** The world, as the caches have it. */
export interface KeptView {
  readonly isPlaced: (key: Key) => boolean;
  /** undefined: gone; 'unknown': of a kind that nobody watches. */
  readonly set: (uid: string) => Readonly<StatefulSet> | undefined | 'unknown';
  readonly node: (name: string) => Readonly<Node> | undefined;
  readonly isOurs: (schedulerName: string) => boolean;
  readonly ttls: Ttls;
  readonly now: Millis;
}

/** What is wrong with what is kept: nothing, or there is a mistake in who told of changes, or here. For tests, and for who looks into the process. */
export function problemsOf(kept: Reservations, view: KeptView): string[] {
  const problems = kept
    .list()
    .flatMap((reservation) => whatIsWrong(reservation, view).map((what) => `${reservation.namespace}/${reservation.name}: ${what}`));
  const slots = kept.list().map(({ heldPod }) => heldPod.key);
  if (new Set(slots).size !== slots.length) problems.push('room is kept twice under one name');
  const byNode = [...kept.nodes].flatMap((node) => kept.on(node));
  if (byNode.length !== kept.size || !kept.list().every((one) => byNode.includes(one))) problems.push('the list of nodes says otherwise');
  const earliest = kept.list().map(({ expiresAt }) => expiresAt);
  if (kept.nextExpiry !== (earliest.length === 0 ? undefined : Math.min(...earliest))) problems.push('the next expiry is another');
  return problems;
}

function whatIsWrong(reservation: Reservation, view: KeptView): string[] {
  const { owner, name, node, heldPod, state, claimant, expiresAt, createdAt, failedAt } = reservation;
  const problems: string[] = [];
  if (view.isPlaced(heldPod.key)) problems.push('a pod of that name is on a node');
  if (expiresAt <= view.now) problems.push('it should have expired');
  const { ttlMs, claimedTtlMs } = view.ttls;
  // 10 s for each binding that fails: from the last one on.
  const latest = Math.max((failedAt ?? createdAt + ttlMs) + claimedTtlMs, view.now + 10_000);
  if (expiresAt > latest) problems.push('it is kept for too long');
  const set = view.set(owner.uid);
  const unwanted = set === 'unknown' ? undefined : whySetMakesNone(set, owner, name, view.isOurs);
  if (unwanted !== undefined) problems.push(unwanted);
  const barred = whyNotOnNode(node, view.node(node), heldPod.pod.spec, state === 'claimed');
  if (barred !== undefined) problems.push(barred);
  if ((state === 'claimed') !== (claimant !== undefined)) problems.push('it is claimed by nobody, or by somebody unsaid');
  if (heldPod.nodeName !== node || heldPod.terminating) problems.push('its heldPod is elsewhere, or on its way out');
  return problems;
}
