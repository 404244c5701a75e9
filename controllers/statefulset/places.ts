import { identityOf, LARGEST_ORDINAL } from '../../kube/api/ordinals.ts';
import type { Millis } from '../../base/clock.ts';
import { availableIn, isReady } from '../common/pods.ts';
import { HASH_LABEL } from '../common/history/contract.ts';
import { claimFields } from '../common/set-size.ts';
import type { SetFacts } from './observe.ts';
import type { Rules } from './rules.ts';
import type { Pod } from '../common/types.ts';

/** Which places a set has. */
interface PlacesOptions {
  /** The first ordinal. */
  start: number;
  /** How many. */
  replicas: number;
  /** Ordinals that are left out: ascending, without repetition. */
  reserved: readonly number[];
}

/**
 * The places of a set, numbered from 0 on, and the ordinal of each: ascending, reserved ones left out. It lists nothing, so two billion replicas take
 * no more memory and no more time than two.
 */
export class Places {
  /** How many there are. No ordinal is beyond 31 bits. */
  readonly length: number;
  readonly #start: number;
  readonly #skipped: readonly number[];

  constructor({ start, replicas, reserved }: PlacesOptions) {
    this.#start = start;
    this.#skipped = reserved.filter((ordinal) => ordinal >= start);
    this.length = Math.max(0, Math.min(replicas, LARGEST_ORDINAL - start + 1 - this.#skipped.length));
  }

  /** @param at - from 0 to below `length` */
  ordinalAt(at: number): number {
    const { length } = this.#skipped;
    // Before the i-th that is left out there are so many places.
    const left = firstWhere(length, (i) => (this.#skipped[i] ?? 0) - this.#start - i > at);
    return this.#start + at + left;
  }

  /** @returns undefined for an ordinal that has no place */
  placeOf(ordinal: number): number | undefined {
    if (ordinal < this.#start) return undefined;
    const left = firstWhere(this.#skipped.length, (i) => (this.#skipped[i] ?? 0) >= ordinal);
    const at = ordinal - this.#start - left;
    return this.#skipped[left] === ordinal || at >= this.length ? undefined : at;
  }
}

/** The first index that it holds for, as it does for all after it; `length` for none. */
function firstWhere(length: number, holds: (index: number) => boolean): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Both are on every pod of a set, so that a service can be had for one of them. */
export const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
export const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index';

export function podName(set: string, ordinal: number): string {
  return `${set}-${ordinal}`;
}

/** The state of a pod. All false for a pod that does not exist. */
interface Health {
  readonly terminating: boolean;
  /** Failed or Succeeded: it will never run again. */
  readonly ended: boolean;
  readonly pending: boolean;
  readonly runningReady: boolean;
  /** Ready for long enough; the phase is not looked at. */
  readonly available: boolean;
  /** Wall clock: when time alone makes it available. */
  readonly availableAt: Millis | undefined;
}

/** A place in the set, and its pod. */
export interface Slot {
  readonly ordinal: number;
  /** Number of the place, from 0 on; Infinity for a pod that there is no place for. */
  readonly at: number;
  /** Its pod's. */
  readonly name: string;
  readonly pod: Readonly<Pod> | undefined;
  /** Name of the revision that the pod is of; '' when it says none. */
  readonly revision: string;
  readonly health: Health;
}

export interface Slots {
  /** In order: each place that has a pod, and the lowest of those that have none, as many as one look deals with. */
  readonly wanted: readonly Slot[];
  /** Further places without a pod, and the highest of them. They are above all that are listed without one; undefined: there are none. */
  readonly unlisted: { readonly count: number; readonly top: Slot } | undefined;
  /** Pods that there is no place for (any more), highest first. */
  readonly condemned: readonly Slot[];
}

/** Places without a pod that one look deals with: what follows from them brings the next look. */
const MAX_LISTED = 500;
/** Claims that one look makes for them, each sixteen labels or annotations counted as one more; those of one place go together. */
const MAX_NEW_CLAIMS = 2_000;

const absent: Health = { terminating: false, ended: false, pending: false, runningReady: false, available: false, availableAt: undefined };

/**
 * Sorts the set's pods into its places. Pods whose name is none of the set's are left alone. It takes time for each pod, and for each place that it lists:
 * {@link MAX_LISTED} at most, whatever `replicas` says.
 */
export function slotsOf({ rules, adoption, now }: SetFacts): Slots {
  const { places } = rules;
  const filled: Slot[] = [];
  const condemned: Slot[] = [];
  for (const pod of [...adoption.pods.keep, ...adoption.pods.adopt]) {
    const { name = '', labels } = pod.metadata;
    const ordinal = identityOf(name)?.ordinal;
    if (ordinal === undefined) continue;
    const at = places.placeOf(ordinal);
    const slot: Slot = {
      ordinal,
      at: at ?? Infinity,
      name,
      pod,
      revision: labels?.[HASH_LABEL] ?? '',
      health: healthOf(pod, rules.minReadyMs, now),
    };
    (at === undefined ? condemned : filled).push(slot);
  }
  filled.sort((a, b) => a.at - b.at);
  const { claimTemplates, matchLabels } = rules;
  const pvcsOfOne = claimTemplates.length + Math.floor(claimFields(claimTemplates, matchLabels) / 16);
  const listed = Math.max(1, Math.min(MAX_LISTED, Math.floor(MAX_NEW_CLAIMS / Math.max(1, pvcsOfOne))));
  const { wanted, top } = withEmpty(rules, filled, listed);
  const unlisted = places.length - wanted.length;
  return {
    wanted,
    unlisted: unlisted === 0 || top === undefined ? undefined : { count: unlisted, top: emptyAt(rules, top) },
    condemned: condemned.toSorted((a, b) => b.ordinal - a.ordinal),
  };
}

/**
 * Puts empty places between those that are filled, from the lowest up.
 * @param filled - ascending
 * @returns `top`: the highest empty place, listed or not
 */
function withEmpty(rules: Rules, filled: readonly Slot[], listed: number): { wanted: Slot[]; top: number | undefined } {
  const wanted: Slot[] = [];
  let left = listed;
  let next = 0;
  let top: number | undefined;
  const fillUpTo = (end: number): void => {
    if (next < end) top = end - 1;
    for (; next < end && left > 0; next++, left--) wanted.push(emptyAt(rules, next));
    next = end;
  };
  for (const slot of filled) {
    fillUpTo(slot.at);
    wanted.push(slot);
    next = slot.at + 1;
  }
  fillUpTo(rules.places.length);
  return { wanted, top };
}

function emptyAt({ name, places }: Rules, at: number): Slot {
  const ordinal = places.ordinalAt(at);
  return { ordinal, at, name: podName(name, ordinal), pod: undefined, revision: '', health: absent };
}

function healthOf(pod: Readonly<Pod>, minReadyMs: Millis, now: Millis): Health {
  const phase = pod.status?.phase;
  const left = availableIn(pod, minReadyMs, now);
  return {
    terminating: pod.metadata.deletionTimestamp !== undefined,
    ended: phase === 'Failed' || phase === 'Succeeded',
    pending: phase === 'Pending',
    runningReady: phase === 'Running' && isReady(pod),
    available: left === 0,
    availableAt: left === undefined || left === 0 ? undefined : now + left,
  };
}

/** Counts against what may be unavailable; places without a pod do. */
export function isUnavailable({ health }: Slot): boolean {
  return !health.available || health.terminating;
}

/** The one that everything waits for: the lowest bad place, else the lowest bad pod that has none. */
export function firstUnhealthy({ wanted, condemned }: Slots): Slot | undefined {
  return wanted.find(isUnavailable) ?? condemned.findLast(isUnavailable);
}
