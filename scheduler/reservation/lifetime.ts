import type { PodSpec, Taint } from 'kubernetes-types/core/v1.js';
import { firstUntolerated, matchesNodeAffinity, matchesNodeSelector, refusingEffects } from '../../kube/api/placement.ts';
import type { DaemonSet, Node, StatefulSet } from '../types.ts';
import { identityOf, type OrdinalRange, ordinalRangesIn } from '../../kube/api/ordinals.ts';
import type { Millis } from '../../base/clock.ts';
import type { ReservationConfig } from '../config/config.ts';
import type { Reservation } from './contract.ts';

/*
 * How long a reservation lasts:
 *
 *   pod deleted              ttl from then
 *   old pod still in the API ttl from that check     at most ttl + claimedTtl from the beginning
 *   successor seen           ttl from then           likewise
 *   successor rejected       claimedTtl from the first time; another successor does not change that
 *   successor deleted        ttl from then, never longer than before
 *   binding failed           10 s from then at least
 */

export type Ttls = Pick<ReservationConfig, 'ttlMs' | 'claimedTtlMs'>;

const MIN_TTL: Millis = 1_000;
/** Time for another attempt after binding failed: the pod waits for its backoff first. */
const SECOND_TRY: Millis = 10_000;

export function atLeastASecond({ ttlMs, claimedTtlMs }: Ttls): Ttls {
  return { ttlMs: Math.max(MIN_TTL, ttlMs), claimedTtlMs: Math.max(MIN_TTL, claimedTtlMs) };
}

/** No reservation lasts longer than this after its pod was deleted, except while a successor whose binding failed is tried again. */
export function longestTtl({ ttlMs, claimedTtlMs }: Ttls): Millis {
  return ttlMs + 2 * claimedTtlMs;
}

export function whenDeleted(now: Millis, { ttlMs }: Ttls): Millis {
  return now + ttlMs;
}

/** Also when the old pod is still there. */
export function whenSeen({ createdAt, expiresAt, failedAt }: Reservation, now: Millis, { ttlMs, claimedTtlMs }: Ttls): Millis {
  if (failedAt !== undefined) return Math.max(expiresAt, failedAt + claimedTtlMs);
  return Math.max(expiresAt, Math.min(now + ttlMs, createdAt + ttlMs + claimedTtlMs));
}

export function whenFailed(now: Millis, { claimedTtlMs }: Ttls): Millis {
  return now + claimedTtlMs;
}

export function whenClaimantDeleted({ expiresAt }: Reservation, now: Millis, { ttlMs }: Ttls): Millis {
  return Math.min(expiresAt, now + ttlMs);
}

export function whenRestored({ expiresAt }: Reservation, now: Millis): Millis {
  return Math.max(expiresAt, now + SECOND_TRY);
}

/*
 * Why a reservation is not made, or ends: checked before it is made and whenever something of it changes, so that none is made that the next
 * check would drop.
 */

const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const NOT_READY: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/**
 * Why no pod with this spec can be scheduled to the node, whatever capacity is free there.
 * @param choosesNodes - whether its node selector and affinity count: those of a successor do; its successor may have others than the deleted pod
 */
export function whyNotOnNode(
  name: string,
  node: Readonly<Node> | undefined,
  spec: Readonly<PodSpec> | undefined,
  choosesNodes: boolean,
): string | undefined {
  if (node === undefined) return `node ${name} was deleted`;
  const tolerations = spec?.tolerations;
  const isKeptOut = (taint: Taint): boolean => firstUntolerated([taint], tolerations, refusingEffects) !== undefined;
  if (node.spec?.unschedulable === true && isKeptOut(CORDON)) return `node ${name} is cordoned`;
  // There need not be a controller that turns this condition into a taint.
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'True';
  if (ready !== 'True' && isKeptOut(NOT_READY)) return `node ${name} is not ready`;
  const taint = firstUntolerated(node.spec?.taints, tolerations, refusingEffects);
  if (taint !== undefined) return `node ${name} has the taint ${taint.key}:${taint.effect}, which the pod does not tolerate`;
  if (!choosesNodes || spec === undefined) return undefined;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const chosen = matchesNodeSelector(spec.nodeSelector, node.metadata.labels) === undefined && matchesNodeAffinity(required, node.metadata);
  return chosen ? undefined : `the pod's node selector or affinity excludes node ${name}`;
}

/** Why the set creates no pod of this name for this scheduler. @param set - undefined: deleted */
export function whySetMakesNone(
  set: Readonly<StatefulSet> | Readonly<DaemonSet> | undefined,
  owner: { readonly kind: string; readonly name: string },
  podName: string,
  isOwnScheduler: (schedulerName: string) => boolean,
): string | undefined {
  const who = `${owner.kind} ${owner.name}`;
  if (set === undefined) return `${who} was deleted`;
  if (set.metadata.deletionTimestamp !== undefined) return `${who} is being deleted`;
  const schedulerName = set.spec?.template.spec?.schedulerName ?? 'default-scheduler';
  if (!isOwnScheduler(schedulerName)) return `${who} uses scheduler ${schedulerName}`;
  if (owner.kind === 'DaemonSet') return undefined;
  const place = placeInSet(set as Readonly<StatefulSet>, podName);
  return place.wanted ? undefined : place.why;
}

/** Annotation of a StatefulSet: ordinals that it skips, as its controller reads it (`controllers/statefulset/rules.ts`). */
const RESERVED_ORDINALS = 'dkc.dev/reserve-ordinals';

/** Position of a pod's name in a set. `index`: number of lower ordinals that the set uses. */
export type PlaceInSet = { wanted: true; index: number } | { wanted: false; why: string };

/** Whether the set should have a pod of this name. */
export function placeInSet(set: Readonly<StatefulSet>, podName: string): PlaceInSet {
  const { name = '' } = set.metadata;
  const { parent, ordinal = 0 } = identityOf(podName) ?? {};
  if (parent !== name) return { wanted: false, why: `${podName} is not a pod name of StatefulSet ${name}` };
  const start = set.spec?.ordinals?.start ?? 0;
  const replicas = set.spec?.replicas ?? 1;
  if (ordinal < start) return { wanted: false, why: `StatefulSet ${name} starts at ordinal ${start}` };
  // An invalid annotation skips nothing, as in the StatefulSet controller.
  const reserved = ordinalRangesIn((set.metadata.annotations?.[RESERVED_ORDINALS] ?? '').trim()) ?? [];
  if (reserved.some(({ from, to }) => from <= ordinal && ordinal <= to))
    return { wanted: false, why: `StatefulSet ${name} skips ordinal ${ordinal}` };
  const index = ordinal - start - countReserved(reserved, start, ordinal);
  if (index >= replicas) return { wanted: false, why: `StatefulSet ${name} has ${replicas} replicas, none with ordinal ${ordinal}` };
  return { wanted: true, index };
}

/** Number of ordinals in these ranges from `start` up to `end`, without `end`. */
function countReserved(ranges: readonly Readonly<OrdinalRange>[], start: number, end: number): number {
  let count = 0;
  for (const { from, to } of ranges) count += Math.max(0, Math.min(to, end - 1) - Math.max(from, start) + 1);
  return count;
}
