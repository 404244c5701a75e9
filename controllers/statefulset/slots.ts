import type { Millis } from '../../base/clock.ts';
import { identityOf } from '../../kube/api/ordinals.ts';
import { availableIn, isReady } from '../common/availability.ts';
import { HASH_LABEL } from '../common/history/contract.ts';
import type { SetFacts } from './facts.ts';
import { podName } from './identity.ts';
import type { Pod } from './types.ts';

/** How a pod stands. What is not there is none of it. */
export interface Health {
  readonly going: boolean;
  /** Failed or Succeeded: it will never run again. */
  readonly ended: boolean;
  readonly pending: boolean;
  readonly runningReady: boolean;
  /** Ready for long enough; the phase is not looked at. */
  readonly available: boolean;
  /** Wall clock: when time alone makes it available. */
  readonly availableAt: Millis | undefined;
}

/** A place in the set, and who fills it. */
export interface Slot {
  readonly ordinal: number;
  /** Its pod's. */
  readonly name: string;
  readonly pod: Readonly<Pod> | undefined;
  /** Name of the revision that the pod is of; '' when it says none. */
  readonly revision: string;
  readonly health: Health;
}

export interface Slots {
  /** In order; every place of the set has one. */
  readonly wanted: readonly Slot[];
  /** Pods that there is no place for (any more), highest first. */
  readonly condemned: readonly Slot[];
}

const absent: Health = { going: false, ended: false, pending: false, runningReady: false, available: false, availableAt: undefined };

/** Sorts the set's pods into its places. Pods whose name is none of the set's are left alone. */
export function slotsOf({ rules, claims, now }: SetFacts): Slots {
  const byOrdinal = new Map<number, Slot>();
  for (const pod of [...claims.pods.keep, ...claims.pods.adopt]) {
    const { name = '', labels } = pod.metadata;
    const ordinal = identityOf(name)?.ordinal;
    if (ordinal === undefined) continue;
    byOrdinal.set(ordinal, { ordinal, name, pod, revision: labels?.[HASH_LABEL] ?? '', health: healthOf(pod, rules.minReadyMs, now) });
  }
  const wanted = rules.ordinals.map((ordinal): Slot => {
    const slot = byOrdinal.get(ordinal);
    byOrdinal.delete(ordinal);
    return slot ?? { ordinal, name: podName(rules.name, ordinal), pod: undefined, revision: '', health: absent };
  });
  return { wanted, condemned: [...byOrdinal.values()].toSorted((a, b) => b.ordinal - a.ordinal) };
}

function healthOf(pod: Readonly<Pod>, minReadyMs: Millis, now: Millis): Health {
  const phase = pod.status?.phase;
  const left = availableIn(pod, minReadyMs, now);
  return {
    going: pod.metadata.deletionTimestamp !== undefined,
    ended: phase === 'Failed' || phase === 'Succeeded',
    pending: phase === 'Pending',
    runningReady: phase === 'Running' && isReady(pod),
    available: left === 0,
    availableAt: left === undefined || left === 0 ? undefined : now + left,
  };
}

/** Counts against what may be unavailable; places without a pod do. */
export function isUnavailable({ health }: Slot): boolean {
  return !health.available || health.going;
}

/** The one that everything waits for: the lowest bad place, else the lowest bad pod that has none. */
export function firstUnhealthy({ wanted, condemned }: Slots): Slot | undefined {
  return wanted.find(isUnavailable) ?? condemned.findLast(isUnavailable);
}
