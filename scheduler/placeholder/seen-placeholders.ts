import type { Key } from '../../kube/cache/contract.ts';
import type { SchedulerState } from '../core/state.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Reservation, Reservations } from '../reservation/contract.ts';
import { exceeds, placeholderOldUid, standsFor } from './placeholder-pod.ts';

export interface SeenPlaceholdersOptions {
  state: Pick<SchedulerState, 'countPod' | 'ignorePod'>;
  reservations: Pick<Reservations, 'list' | 'inFlight'>;
  isOurs: (schedulerName: string) => boolean;
}

/** Called for each, and for each change. @param oldUid - of the deleted pod whose reservation it holds */
export type PlaceholderListener = (info: PodInfo, oldUid: string) => void;

/** Uids of pods that were made and are not seen yet; more than this were missed. */
const MAX_ENTRIES = 1_000;

/**
 * The pods on nodes that stand for kept room: they are not counted there, for the room is counted itself. Only one that stands for room of this moment and takes
 * no more than that is overlooked when it is first seen; whatever else looks like one counts like any pod.
 */
export class SeenPlaceholders {
  readonly #options: SeenPlaceholdersOptions;
  readonly #seen = new Map<string, { info: PodInfo; oldUid: string; isHidden: boolean }>();
  /** Being made by this process: they are ours whatever others add to them on the way. */
  readonly #expected = new Set<Key>();
  /** Made by this process: their room may be given up, and they removed, before they are seen. */
  readonly #own = new Set<string>();
  #watcher: PlaceholderListener | undefined;

  constructor(options: SeenPlaceholdersOptions) {
    this.#options = options;
  }

  /** Tells of those that are there, and from now on. */
  watch(watcher: PlaceholderListener): void {
    this.#watcher = watcher;
    for (const { info, oldUid } of this.#seen.values()) watcher(info, oldUid);
  }

  /** A pod of this key is about to be made. */
  expect(key: Key): void {
    this.#expected.add(key);
  }

  /** Its making is over. @param uid - undefined: it was not made, as far as is known */
  made(key: Key, uid: string | undefined): void {
    this.#expected.delete(key);
    if (uid === undefined) return;
    if (this.#own.size >= MAX_ENTRIES) this.#own.clear();
    this.#own.add(uid);
  }

  /** A pod was seen, or seen changed. @returns whether it is not to be counted */
  ignores(info: PodInfo): boolean {
    const known = this.#seen.get(info.uid);
    const oldUid = placeholderOldUid(info, this.#options.isOurs);
    if (oldUid === undefined) {
      // Whoever took its marks off has made it a pod like any other.
      if (known !== undefined) this.#seen.delete(info.uid);
      return false;
    }
    const asBefore = known !== undefined && known.info.requests === info.requests;
    // What counts once counts until it is gone.
    const isHidden = asBefore ? known.isHidden : known?.isHidden !== false && this.#isOverlooked(info);
    this.#seen.set(info.uid, { info, oldUid, isHidden });
    this.#watcher?.(info, oldUid);
    return isHidden;
  }

  /** A pod is gone, or has ended. @returns whether it was not counted */
  deleted(info: PodInfo): boolean {
    const known = this.#seen.get(info.uid);
    if (known === undefined) return false;
    this.#seen.delete(info.uid);
    this.#own.delete(info.uid);
    return known.isHidden;
  }

  /** Whether a pod stands for this room, as the API server has told. */
  standsFor(room: Reservation): boolean {
    for (const { info, isHidden } of this.#seen.values()) if (isHidden && standsFor(room, info)) return true;
    return false;
  }

  /** Room is kept that was not known of when what stands for it was seen: from now on that is not counted any more. */
  adopted(room: Reservation): void {
    for (const [uid, seen] of this.#seen) {
      if (seen.isHidden || !standsFor(room, seen.info) || exceeds(room, seen.info)) continue;
      this.#seen.set(uid, { ...seen, isHidden: true });
      this.#options.state.ignorePod(uid);
    }
  }

  /** It cannot be removed: without its room, it counts like any pod. */
  count(uid: string): void {
    const seen = this.#seen.get(uid);
    if (seen?.isHidden !== true || this.#roomOf(seen.info) !== undefined) return;
    this.#seen.set(uid, { ...seen, isHidden: false });
    this.#options.state.countPod(seen.info);
  }

  #isOverlooked(info: PodInfo): boolean {
    if (this.#own.has(info.uid) || this.#expected.has(info.key)) return true;
    const room = this.#roomOf(info);
    return room !== undefined && !exceeds(room, info);
  }

  #roomOf(info: PodInfo): Reservation | undefined {
    const { reservations } = this.#options;
    return [...reservations.list(), ...reservations.inFlight()].find((one) => standsFor(one, info));
  }
}
