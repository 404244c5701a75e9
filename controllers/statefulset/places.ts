import { identityOf, LARGEST_ORDINAL } from '../../kube/api/ordinals.ts';
import type { Millis } from '../../base/clock.ts';
import { atOnce, type InTurns } from '../../base/waiting.ts';
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
  /** Number of places. */
  replicas: number;
  /** Ordinals that are left out: ascending, without repetition. */
  reserved: readonly number[];
}

/**
 * The places of a set, numbered from 0 on, and the ordinal of each: ascending, without reserved ones. Ordinals are computed and not listed, so two billion
 * replicas take no more memory and no more time than two.
 */
export class Places {
  /** Number of places. No ordinal exceeds 31 bits. */
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
    // `skipped[i] - start - i` is the number of places below the i-th skipped ordinal.
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

/** The first index for which `holds` returns true, as it must for all after it; `length` when there is none. */
function firstWhere(length: number, holds: (index: number) => boolean): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Every pod of a set has both labels, so that a Service can select a single pod. */
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
  /** Ready for minReadySeconds, whatever the phase. */
  readonly available: boolean;
  /** Wall clock: when time alone makes it available. */
  readonly availableAt: Millis | undefined;
}

/** A place in the set, and its pod. */
export interface Slot {
  readonly ordinal: number;
  /** Number of the place, from 0 on; Infinity for a pod without a place. */
  readonly at: number;
  /** Name of the pod. */
  readonly name: string;
  readonly pod: Readonly<Pod> | undefined;
  /** Name of the pod's revision; '' for a pod without the label. */
  readonly revision: string;
  readonly health: Health;
}

export interface Slots {
  /** In order: each place with a pod, and the lowest places without one, as many as one reconcile handles. */
  readonly wanted: readonly Slot[];
  /** Number of further empty places, and the highest of them. All are above the empty places in `wanted`; undefined: there are none. */
  readonly unlisted: { readonly count: number; readonly top: Slot } | undefined;
  /** Pods without a place (any more), highest ordinal first. */
  readonly condemned: readonly Slot[];
}

/** Max empty places that one reconcile handles: the events of the new pods enqueue the next one. */
const MAX_LISTED = 500;
/** Max claims that one reconcile creates for these, each sixteen labels or annotations counted as one more; one place is handled however many it needs. */
const MAX_NEW_CLAIMS = 2_000;

const absent: Health = { terminating: false, ended: false, pending: false, runningReady: false, available: false, availableAt: undefined };

/** Pods, each claim of theirs counted as one more, that are looked at in one step: some 1 ms. */
const STEP = 500;

/** Every so many pods of the set are a step. */
export function podsInStep({ claimTemplates }: Rules): number {
  return Math.ceil(STEP / (1 + claimTemplates.length));
}

export const slotsOf = (facts: SetFacts): Slots => atOnce(slotsInTurns(facts));

/**
 * Assigns the set's pods to its places. Pods without an ordinal in their name are ignored. Takes time per pod, and per empty place that is listed:
 * {@link MAX_LISTED} at most, whatever `replicas` says.
 */
export function* slotsInTurns({ rules, adoption, now }: SetFacts): InTurns<Slots> {
  const { places } = rules;
  const filled: Slot[] = [];
  const condemned: Slot[] = [];
  for (const [n, pod] of [...adoption.pods.keep, ...adoption.pods.adopt].entries()) {
    if (n % STEP === 0) yield;
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
  yield;
  filled.sort((a, b) => a.at - b.at);
  yield;
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
 * Inserts empty places between the filled ones, from the lowest up.
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

/** Whether the place counts against maxUnavailable; a place without a pod does. */
export function isUnavailable({ health }: Slot): boolean {
  return !health.available || health.terminating;
}

/** The slot that the set waits for: the lowest unavailable place, else the lowest unavailable pod without a place. */
export function firstUnhealthy({ wanted, condemned }: Slots): Slot | undefined {
  return wanted.find(isUnavailable) ?? condemned.findLast(isUnavailable);
}
