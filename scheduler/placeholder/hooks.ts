import type { SchedulerHooks } from '../core/hooks.ts';
import type { Reservation, Reservations } from '../reservation/contract.ts';
import type { ReservationHooks } from '../reservation/hooks.ts';
import type { Placeholders } from './placeholders.ts';
import type { Key } from '../../kube/cache/contract.ts';
import type { SchedulerState } from '../core/state.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import { exceeds, placeholderOldUid, isPlaceholderFor } from './plan.ts';

/**
 * Hooks of placeholder pods, around those of reservations: placeholder pods are not counted on their nodes, because the reservation is, and are deleted before
 * a pod is bound there.
 */
export function placeholderHooks(
  reservation: ReservationHooks,
  { reservations, seen, placeholders }: { reservations: Pick<Reservations, 'of'>; seen: SeenPlaceholders; placeholders: Placeholders },
): SchedulerHooks {
  reservation.onEnded(placeholders.sync);
  return {
    ...reservation,
    ignores: (pod) => seen.ignores(pod),
    ignoredPodDeleted(pod) {
      if (!seen.deleted(pod)) return false;
      reservation.recheck(pod.nodeName);
      return true;
    },
    // Before the next scheduling attempt: other schedulers may bind pods to the node at any moment.
    onChange: placeholders.sync,
    onReserve(pod, node) {
      const released = reservations.of(pod);
      const reserved = reservation.onReserve(pod, node);
      return {
        async preBind(signal) {
          await reserved?.preBind(signal);
          await placeholders.clear(node, released, signal);
        },
        postBind: () => reserved?.postBind(),
        unreserve: () => reserved?.unreserve(),
        done() {
          reserved?.done();
          if (released !== undefined) placeholders.settled(released);
        },
      };
    },
    start(signal) {
      // Reservations that were restored come first: their placeholder pods are kept.
      reservation.start(signal);
      placeholders.begin(signal);
    },
    async idle() {
      await Promise.all([reservation.idle(), placeholders.idle()]);
    },
  };
}

interface SeenPlaceholdersOptions {
  state: Pick<SchedulerState, 'countPod' | 'ignorePod'>;
  reservations: Pick<Reservations, 'list' | 'inFlight'>;
  isOwnScheduler: (schedulerName: string) => boolean;
}

/** Called for each placeholder pod, and for each change. @param oldUid - UID of the deleted pod whose reservation it holds */
type PlaceholderListener = (info: PodInfo, oldUid: string) => void;

/** Maximum number of UIDs of created pods that the cache has not shown yet; with more than this, events were missed. */
const MAX_ENTRIES = 1_000;

/**
 * Placeholder pods on nodes. They are not counted there, because the reservation is. A pod is left out of the count only if, when the cache first shows it, it
 * holds a present reservation and requests no more than that; every other pod with the same marks is counted.
 */
export class SeenPlaceholders {
  readonly #options: SeenPlaceholdersOptions;
  readonly #seen = new Map<string, { info: PodInfo; oldUid: string; isHidden: boolean }>();
  /** Keys of pods that this process is creating: ours, whatever admission webhooks add to them. */
  readonly #expected = new Set<Key>();
  /** UIDs of pods created by this process: their reservation may be dropped, and they deleted, before the cache shows them. */
  readonly #own = new Set<string>();
  #watcher: PlaceholderListener | undefined;

  constructor(options: SeenPlaceholdersOptions) {
    this.#options = options;
  }

  /** Calls back for each placeholder pod that exists, and for each change from now on. */
  watch(watcher: PlaceholderListener): void {
    this.#watcher = watcher;
    for (const { info, oldUid } of this.#seen.values()) watcher(info, oldUid);
  }

  /** A pod of this key is about to be created. */
  expect(key: Key): void {
    this.#expected.add(key);
  }

  /** Its creation has ended. @param uid - undefined when no pod was created, or the answer was lost */
  made(key: Key, uid: string | undefined): void {
    this.#expected.delete(key);
    if (uid === undefined) return;
    if (this.#own.size >= MAX_ENTRIES) this.#own.clear();
    this.#own.add(uid);
  }

  /** The cache shows a new or changed pod. @returns whether it is left out of the count */
  ignores(info: PodInfo): boolean {
    const known = this.#seen.get(info.uid);
    const oldUid = placeholderOldUid(info, this.#options.isOwnScheduler);
    if (oldUid === undefined) {
      // Without its marks it is a pod like any other.
      if (known !== undefined) this.#seen.delete(info.uid);
      return false;
    }
    const asBefore = known !== undefined && known.info.requests === info.requests;
    // A pod that was counted once is counted until it is deleted.
    const isHidden = asBefore ? known.isHidden : known?.isHidden !== false && this.#isOverlooked(info);
    this.#seen.set(info.uid, { info, oldUid, isHidden });
    this.#watcher?.(info, oldUid);
    return isHidden;
  }

  /** A pod was deleted or terminated. @returns whether it was left out of the count */
  deleted(info: PodInfo): boolean {
    const known = this.#seen.get(info.uid);
    if (known === undefined) return false;
    this.#seen.delete(info.uid);
    this.#own.delete(info.uid);
    return known.isHidden;
  }

  /** Whether the cache shows a placeholder pod for this reservation. */
  hasPlaceholderFor(reservation: Reservation): boolean {
    for (const { info, isHidden } of this.#seen.values()) if (isHidden && isPlaceholderFor(reservation, info)) return true;
    return false;
  }

  /** A reservation was made after the cache showed its placeholder pod: from now on the pod is left out of the count. */
  adopted(reservation: Reservation): void {
    for (const [uid, seen] of this.#seen) {
      if (seen.isHidden || !isPlaceholderFor(reservation, seen.info) || exceeds(reservation, seen.info)) continue;
      this.#seen.set(uid, { ...seen, isHidden: true });
      this.#options.state.ignorePod(uid);
    }
  }

  /** The placeholder pod could not be deleted: without its reservation it is counted like any pod. */
  count(uid: string): void {
    const seen = this.#seen.get(uid);
    if (seen?.isHidden !== true || this.#reservationOf(seen.info) !== undefined) return;
    this.#seen.set(uid, { ...seen, isHidden: false });
    this.#options.state.countPod(seen.info);
  }

  #isOverlooked(info: PodInfo): boolean {
    if (this.#own.has(info.uid) || this.#expected.has(info.key)) return true;
    const reservation = this.#reservationOf(info);
    return reservation !== undefined && !exceeds(reservation, info);
  }

  #reservationOf(info: PodInfo): Reservation | undefined {
    const { reservations } = this.#options;
    return [...reservations.list(), ...reservations.inFlight()].find((one) => isPlaceholderFor(one, info));
  }
}
