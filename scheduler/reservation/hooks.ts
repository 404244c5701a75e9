import type { Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { pods } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { Reserved, SchedulerHooks } from '../core/hooks.ts';
import type { ProfileEvents } from '../core/reporting.ts';
import type { SchedulerState } from '../core/state.ts';
import { BY_OWNER } from '../informers.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { capacityFacts, stillFit } from './capacity.ts';
import type { DeletionFacts, Dropped, Reservation, Reservations } from './contract.ts';
import {
  createdEvent,
  endedEvent,
  placedEvent,
  resultOf,
  type ReservationEvent,
  type ReservationMeters,
  type Result,
} from './reporting.ts';
import { newestRevision } from './decide.ts';
import type { ReservationsOnSets } from './on-sets.ts';
import { isNotFound } from '../../kube/client/errors.ts';

/** Placeholder pods, which show reservations to other schedulers: such a pod is on the node already, so the reservation stays. */
export interface PlaceholderView {
  hasPlaceholderFor(reservation: Reservation): boolean;
  /** A reservation was adopted that was not known when its placeholder was seen. */
  adopted(reservation: Reservation): void;
}

export interface ReservationHooksOptions {
  state: SchedulerState;
  reservations: Reservations;
  /** Undefined: there are none. */
  placeholders: PlaceholderView | undefined;
  /** Persists reservations beyond this process; undefined: they are not persisted. */
  onSets: ReservationsOnSets | undefined;
  client: Pick<Client, 'get'>;
  events: ProfileEvents;
  meters: ReservationMeters;
  log: Log;
}

/** Hooks of reservations: reserve the capacity of a pod that is deleted for an upgrade, and release it to its successor. */
export interface ReservationHooks extends SchedulerHooks {
  /** Capacity of a node was taken, or is free again: a reservation that does not fit any longer is dropped. */
  recheck(node: string): void;
  /** An event about the owner of a reservation. */
  report(reservation: Reservation, event: ReservationEvent): void;
  /** Registers a listener, called whenever a reservation has ended. */
  onEnded(listener: () => void): void;
}

export function reservationHooks(options: ReservationHooksOptions): ReservationHooks {
  const { state, reservations, placeholders, onSets, client, events, meters, log } = options;
  const listeners: (() => void)[] = [];
  let leading: AbortSignal | undefined;
  const isLeading = (): boolean => leading?.aborted === false;

  // A standby has the same reservations, and reports nothing.
  const report = ({ owner, namespace, heldPod }: Reservation, { type, reason, message }: ReservationEvent): void => {
    const { apiVersion, kind, name, uid } = owner;
    if (isLeading()) events(heldPod.schedulerName).event({ apiVersion, kind, metadata: { namespace, name, uid } }, type, reason, message);
  };
  const ended = (result: Result | undefined, { owner, name }: Reservation): void => {
    for (const listener of listeners) listener();
    if (!isLeading()) return;
    if (result !== undefined) meters.ended(result);
    onSets?.ended(owner.uid, name);
  };
  /** Reservations ended: reports and counts them, unless an earlier leader has, and requeues pods that may use their capacity. */
  const dropped = (list: readonly Dropped[], isReported = false): void => {
    for (const one of list) {
      const { reservation, result } = one;
      if (!isReported) report(reservation, endedEvent(one));
      ended(isReported ? undefined : result, reservation);
      state.pending.onHoldReleased(reservation.heldPod, reservation.priority);
      if (reservation.claimant !== undefined) state.pending.reorder(reservation.claimant.uid);
    }
  };
  const recheck = (node: string, isHeld: (reservation: Reservation) => boolean = () => false): void => {
    if (reservations.on(node).length === 0) return;
    const fits = (together: readonly Reservation[]): boolean => together.slice(-1).every(isHeld) || stillFit(state.cluster, together);
    dropped(reservations.recheck(node, fits));
  };
  const podPending = (pod: PodInfo): void => {
    if (reservations.size === 0) return;
    const seen = reservations.podSeen(pod, (node) => capacityFacts(state.cluster, reservations, node), state.now());
    dropped(seen.dropped);
    if (seen.eased !== undefined) state.pending.onHoldReleased(seen.eased.before.heldPod, seen.eased.before.priority);
  };
  /** Successors that were queued before their reservations were restored claim them now. */
  const claim = (restored: readonly Reservation[]): void => {
    for (const { namespace, name } of restored) {
      const successor = state.latest(`${namespace}/${name}`);
      if (successor === undefined || successor.terminating) continue;
      podPending(successor);
      state.pending.reorder(successor.uid);
    }
  };
  const expiry = new ReservationExpiry({ reservations, now: state.now, client }, dropped);

  return {
    recheck: (node) => recheck(node),
    report,
    onEnded: (listener) => void listeners.push(listener),

    ignores: () => false,
    ignoredPodDeleted: () => false,
    onPodPending: podPending,
    onPendingPodDeleted: (pod) => reservations.pendingPodDeleted(pod, state.now()),
    onPodAssigned(pod, wasAssumed) {
      dropped(reservations.podPlaced(pod));
      // The placeholder pod was on the node before the new pod: the kubelet will reject the new pod, so that the reservation still fits.
      if (!wasAssumed) recheck(pod.nodeName, (reservation) => placeholders?.hasPlaceholderFor(reservation) === true);
    },
    onPodTerminating(pod) {
      const facts = deletionFacts(state, pod, false);
      reservations.podTerminating(facts);
      if (leading?.aborted === false) onSets?.terminating(facts, leading);
    },
    onAssignedPodDeleted(pod, { unseen, isVictim }) {
      const made = reservations.podDeleted({ ...deletionFacts(state, pod, unseen), isVictim });
      dropped(made.dropped);
      const { reservation, decision } = made;
      if (reservation !== undefined) {
        report(reservation, createdEvent({ ...reservation, expiresAt: state.shown(reservation.expiresAt) }));
        return reservation.priority;
      }
      const owner = controllerOf(pod.pod);
      if (isLeading()) onSets?.ended(owner?.uid ?? '', pod.pod.metadata.name ?? '');
      if (owner?.kind === 'StatefulSet') log.debug('no reservation made for a deleted pod', { pod: pod.key, reason: decision.why });
      return -Infinity;
    },
    onNodeChanged(name, node, change) {
      const isPlaced = (key: string): boolean => (state.caches.pods.get(key)?.spec?.nodeName ?? '') !== '';
      dropped(reservations.nodeChanged(name, node, isPlaced));
      if (typeof change !== 'string' && change.has('allocatable')) recheck(name);
    },
    onControllerChanged: (uid, controller) => dropped(reservations.setChanged(uid, controller)),
    onChange() {},

    onReserve(pod, node) {
      const released = reservations.assumed(pod);
      if (released !== undefined && released.node !== node) state.pending.onHoldReleased(released.heldPod, released.priority);
      recheck(node);
      return released && reservedFor(pod, node, released);
    },
    onUnschedulable: (pod) => reservations.podFailed(pod, state.now()),

    start(signal) {
      leading = signal;
      const restored: Reservation[] = [];
      const adopted = (reservation: Reservation): void => {
        placeholders?.adopted(reservation);
        restored.push(reservation);
      };
      onSets?.restore({ recheck, adopted }, signal);
      // A standby does not expire reservations. The leader before it did, and knew whether a successor had been tried.
      dropped(reservations.expire(state.now()), true);
      claim(restored);
    },
    tick: (signal) => expiry.tick(signal),
    idle: async () => onSets?.settled(),
  };

  /** The reservation, released to this pod while it is being bound; held again if binding fails. */
  function reservedFor(pod: PodInfo, node: string, released: Reservation): Reserved {
    let isReleased = true;
    return {
      preBind: () => Promise.resolve(),
      postBind() {
        reservations.bound(released);
        const { type, reason, message } = placedEvent(released, node);
        events(pod.schedulerName).event(pod.pod, type, reason, message, { resource: pods });
        ended(resultOf(released, node), released);
      },
      unreserve() {
        if (!isReleased) return undefined;
        isReleased = false;
        const restored = reservations.restore(released, state.now());
        return restored && (() => recheck(restored.node));
      },
      done() {},
    };
  }
}

function deletionFacts(state: SchedulerState, pod: PodInfo, unseen: boolean): DeletionFacts {
  const { caches, cluster } = state;
  const now: Millis = state.now();
  const owner = controllerOf(pod.pod);
  const key = `${pod.namespace}/${owner?.name ?? ''}`;
  const revisions = owner === undefined ? [] : caches.revisions.indexed(BY_OWNER, owner.uid);
  const on = cluster.node(pod.nodeName);
  return {
    pod,
    unseen,
    set: owner?.kind === 'StatefulSet' ? caches.statefulSets.get(key) : undefined,
    daemonSet: owner?.kind === 'DaemonSet' ? caches.daemonSets?.get(key) : undefined,
    newestRevision: owner === undefined ? undefined : newestRevision(revisions, owner),
    node: on?.node,
    otherOnNode: owner?.kind === 'DaemonSet' ? otherOf(owner.uid, pod, on?.pods.values() ?? []) : undefined,
    now,
  };
}

/** Another pod of that owner that is not terminating. */
function otherOf(owner: string, { uid }: PodInfo, pods: Iterable<PodInfo>): string | undefined {
  for (const other of pods) if (other.uid !== uid && !other.terminating && controllerOf(other.pod)?.uid === owner) return other.key;
  return undefined;
}

/** How long before a reservation expires the deleted pod is read from the API server: the caches do not have finished pods. */
const READ_BEFORE_MS: Millis = 5_000;
/** The scheduling loop calls many times a second while pods are scheduled: a failed read is repeated no sooner. */
const READ_AGAIN_MS: Millis = 500;

/** Drops expired reservations, and extends those of finished pods that still exist: their successors are created only after their deletion. */
export class ReservationExpiry {
  readonly #reservations: Reservations;
  readonly #now: () => Millis;
  readonly #client: Pick<Client, 'get'>;
  readonly #dropped: (dropped: readonly Dropped[]) => void;
  /** The pods read, by UID: for which expiry, and when they may be read again. Only of reservations that expire soon. */
  readonly #read = new Map<string, { readonly expiresAt: Millis; readonly notBefore: Millis; failed: boolean }>();

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

  /** @returns when to call again; undefined: there are no reservations */
  tick(signal: AbortSignal): Millis | undefined {
    const [reservations, now] = [this.#reservations, this.#now];
    const at = now();
    const soon = reservations.expiringWithin(READ_BEFORE_MS, at);
    const uids = new Set(soon.map(({ oldUid }) => oldUid));
    for (const uid of this.#read.keys()) if (!uids.has(uid)) this.#read.delete(uid);
    for (const reservation of soon) this.#readPod(reservation, at, signal);
    this.#dropped(reservations.expire(at));
    const { nextExpiry } = reservations;
    return nextExpiry === undefined ? undefined : Math.max(at + 100, nextExpiry - READ_BEFORE_MS);
  }

  #readPod(reservation: Reservation, at: Millis, signal: AbortSignal): void {
    const { oldUid, namespace, name, expiresAt } = reservation;
    const last = this.#read.get(oldUid);
    if (last !== undefined && (at < last.notBefore || (last.expiresAt === expiresAt && !last.failed))) return;
    const read = { expiresAt, notBefore: at + READ_AGAIN_MS, failed: false };
    this.#read.set(oldUid, read);
    const [reservations, now] = [this.#reservations, this.#now];
    this.#client.get(pods, { namespace, name }, { signal }).then(
      ({ metadata }) => {
        if (metadata.uid === oldUid) reservations.oldStillThere(reservation, now());
      },
      (error: unknown) => {
        // After an error the pod is read again. Without an answer the reservation expires as planned.
        if (!isNotFound(error)) read.failed = true;
      },
    );
  }
}
