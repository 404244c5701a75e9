import type { Millis } from '../../base/clock.ts';
import type { Key } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Reservation } from './contract.ts';

const none: readonly Reservation[] = [];

/** Key of a reservation: the name of the pod, or for a DaemonSet its owner and node. At most one for each. */
export function slotOf(reservation: Reservation): Key {
  const { namespace, name, owner, node } = reservation;
  return isByNode(reservation) ? daemonSlot(owner.uid, node) : `${namespace}/${name}`;
}

/** Keys of the reservations that may be for this pod, or for its name. */
export function slotsOf(pod: PodInfo): readonly Key[] {
  const owner = controllerOf(pod.pod);
  if (owner?.kind !== 'DaemonSet') return [pod.key];
  const node = pod.nodeName === '' ? pinnedTo(pod) : pod.nodeName;
  return node === undefined ? [pod.key] : [pod.key, daemonSlot(owner.uid, node)];
}

// Names hold no `@`.
function daemonSlot(ownerUid: string, node: string): Key {
  return `${ownerUid}@${node}`;
}

/** Reservations by slot and by node. Values are replaced, never changed. */
export class ReservationIndex {
  readonly #bySlot = new Map<Key, Reservation>();
  readonly #byNode = new Map<string, readonly Reservation[]>();
  #nextExpiry: { at: Millis | undefined } | undefined = { at: undefined };

  get size(): number {
    return this.#bySlot.size;
  }

  get nodes(): Iterable<string> {
    return this.#byNode.keys();
  }

  get nextExpiry(): Millis | undefined {
    if (this.#nextExpiry === undefined) {
      let at: Millis | undefined;
      for (const { expiresAt } of this.#bySlot.values()) if (at === undefined || expiresAt < at) at = expiresAt;
      this.#nextExpiry = { at };
    }
    return this.#nextExpiry.at;
  }

  all(): readonly Reservation[] {
    return [...this.#bySlot.values()];
  }

  on(node: string): readonly Reservation[] {
    return this.#byNode.get(node) ?? none;
  }

  at(slot: Key): Reservation | undefined {
    return this.#bySlot.get(slot);
  }

  has(reservation: Reservation): boolean {
    return this.#bySlot.get(slotOf(reservation)) === reservation;
  }

  /** Called for every comparison of two pods in the queue: mostly there are no reservations at all. */
  of(pod: PodInfo): Reservation | undefined {
    if (this.#bySlot.size === 0) return undefined;
    const named = this.#bySlot.get(pod.key);
    if (named !== undefined && isSuccessor(named, pod)) return named;
    for (const slot of slotsOf(pod)) {
      const found = this.#bySlot.get(slot);
      if (found !== undefined && isSuccessor(found, pod)) return found;
    }
    return undefined;
  }

  set(reservation: Reservation): void {
    const slot = slotOf(reservation);
    const before = this.#bySlot.get(slot);
    if (before !== undefined) this.#leaveNode(before);
    this.#bySlot.set(slot, reservation);
    this.#byNode.set(reservation.node, [...this.on(reservation.node), reservation]);
    this.#nextExpiry = undefined;
  }

  delete(reservation: Reservation): void {
    if (!this.has(reservation)) return;
    this.#bySlot.delete(slotOf(reservation));
    this.#leaveNode(reservation);
    this.#nextExpiry = undefined;
  }

  #leaveNode(reservation: Reservation): void {
    const others = this.on(reservation.node).filter((other) => other !== reservation);
    if (others.length === 0) this.#byNode.delete(reservation.node);
    else this.#byNode.set(reservation.node, others);
  }
}

/**
 * The only node that a pod may run on, if its affinity names it as pods of DaemonSets do.
 * @returns undefined if it may run on several nodes, or on none
 */
export function pinnedTo({ pod }: PodInfo): string | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  let only: string | undefined;
  for (const { matchFields } of terms) {
    const name = matchFields?.find(({ key, operator, values }) => key === 'metadata.name' && operator === 'In' && values?.length === 1);
    const node = name?.values?.[0];
    if (node === undefined || (only !== undefined && only !== node)) return undefined;
    only = node;
  }
  return only;
}

/** Pods of a DaemonSet have a new name each time: the node identifies their predecessor. */
function isByNode({ owner }: Pick<Reservation, 'owner'>): boolean {
  return owner.kind === 'DaemonSet';
}

/**
 * Whether the reservation is for this pod: it has the same owner and the same name, and is not the deleted pod itself. Only the reference to the
 * controller is compared, and of that the uid: nothing else of an owner's references tells its pods apart.
 */
export function isSuccessor(reservation: Reservation, pod: PodInfo): boolean {
  const { namespace, name, owner, oldUid, node } = reservation;
  if (pod.namespace !== namespace || pod.uid === oldUid) return false;
  if (!isByNode(reservation) && pod.name !== name) return false;
  if (controllerOf(pod.pod)?.uid !== owner.uid) return false;
  return !isByNode(reservation) || pinnedTo(pod) === node;
}
