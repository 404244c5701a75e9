import type { Millis } from '../../../base/clock.ts';
import { wasClockSet } from '../clock-gaps.ts';
import { cordonPatch, type LifecycleCondition, planConditions, printOwner, recordOf, timerPatch, uncordonPatch } from './record.ts';
import type { DrainInput, DrainOwner, DrainPolicy, DrainStep, Node, Pod, PodRef } from './contract.ts';
import { cut } from '../text.ts';
import { toleratesTaint } from '../../../kube/api/placement.ts';

/** How often the pods of a node that is being drained are listed, in ms. kubectl drain retries a rejected eviction after the same time. */
export const POLL_MS: Millis = 5_000;
/** Pods named in a message; the others are counted. */
const MAX_NAMED = 3;
/** Characters of a reason in a message. */
const MAX_WHY = 200;

/**
 * The next step of a drain: cordon and record, conditions, evictions, wait; in the end `drained` or `failed`. The state of earlier steps is on the Node
 * only, so that any process can continue at any point. Ends within `timeoutMs` of the cordon while the API server accepts writes. The policy is checked
 * before the cordon, so that a node that it blocks is never touched.
 *
 * | Node | step |
 * | --- | --- |
 * | another rollout's record | wait |
 * | no record | failed (Blocked), or cordon |
 * | our record, its start is missing or in the future, or the clock was set since | restart timer |
 * | our record, not cordoned | failed (Uncordoned) |
 * | no pods left | set conditions (Drained), then drained |
 * | pods left, time over | failed (Timeout) |
 * | pods that the policy does not evict | failed (Blocked) |
 * | else | set conditions (DrainInProgress), evict, wait |
 */
export function planDrain(input: DrainInput): DrainStep {
  const { node, owner, policy, now, gaps, isSilent = false } = input;
  const record = recordOf(node);
  if (record !== undefined && record.owner.uid !== owner.uid) {
    const why = `rollout ${printOwner(record.owner)} is draining the node`;
    return { do: 'wait', why, isHeld: true, requeueAfterMs: POLL_MS };
  }
  const left = remainingPods(input, record?.startedAt);
  if (record === undefined) return blocked(left) ?? patch(node, 'cordon', cordonPatch(node, owner, now));
  const { startedAt } = record;
  // After the clock was set, the drain would last too long or too short.
  if (startedAt === undefined || wasClockSet(startedAt, now, gaps)) return patch(node, 'restart timer', timerPatch(node, now));
  if (node.spec?.unschedulable !== true) {
    return { do: 'failed', reason: 'Uncordoned', why: 'the node was uncordoned while it was being drained' };
  }
  const leftMs = startedAt + policy.timeoutMs - now;
  // Without the right to write the status, the drain still continues and ends.
  const say = (conditions: readonly LifecycleCondition[] | undefined): DrainStep | undefined =>
    isSilent || conditions === undefined ? undefined : planConditions(node, owner, conditions, now);
  if (left.length === 0) {
    return say(leftMs > 0 ? ['MaintenanceInProgress', 'Drained'] : undefined) ?? { do: 'drained' };
  }
  if (leftMs <= 0)
    return { do: 'failed', reason: 'Timeout', why: `not drained in ${policy.timeoutMs / 1_000} s: ${waitsFor(left, input)}` };
  return blocked(left) ?? say(['MaintenanceInProgress', 'DrainInProgress']) ?? evictions(left, input, leftMs);
}

/**
 * The next step that gives a node back: removes the rollout's conditions, then its record and cordon, then returns `given-back`. Cordons, conditions and
 * records of others stay. Works for nodes that were never drained, and for rollouts that do not exist any more ({@link recordOf} names them).
 */
export function planGiveBack(node: Readonly<Node>, owner: DrainOwner, now: Millis, { isSilent = false } = {}): DrainStep {
  const conditions = isSilent ? undefined : planConditions(node, owner, [], now);
  if (conditions !== undefined) return conditions;
  if (uncordonPatch(node, owner) === undefined) return { do: 'given-back' };
  return { do: 'uncordon', node: node.metadata.name ?? '', owner };
}

/** Pods that keep the node from being drained. */
type RemainingPod = Exclude<PodDecision, { pod: 'leave' }>;

function remainingPods({ node, pods, policy, now }: DrainInput, startedAt: Millis | undefined): RemainingPod[] {
  const left: RemainingPod[] = [];
  for (const pod of pods) {
    if (pod.spec?.nodeName !== node.metadata.name) continue;
    const decision = decidePod(pod, policy, startedAt, now);
    if (decision.pod !== 'leave') left.push(decision);
  }
  return left.toSorted((a, b) => compare(nameOf(a.ref), nameOf(b.ref)));
}

function blocked(left: readonly RemainingPod[]): DrainStep | undefined {
  const blocks = left.filter((one) => one.pod === 'block');
  if (blocks.length === 0) return undefined;
  return { do: 'failed', reason: 'Blocked', why: named(blocks.map(({ ref, why }) => `${nameOf(ref)} ${why}`)) };
}

function evictions(left: readonly RemainingPod[], input: DrainInput, leftMs: Millis): DrainStep {
  const heldMs = (uid: string): Millis => input.heldBack?.(uid)?.leftMs ?? 0;
  const pods = left.filter(({ pod, ref }) => pod === 'evict' && heldMs(ref.uid) <= 0).map(({ ref }) => ref);
  const { gracePeriodSeconds } = input.policy;
  if (pods.length > 0) return { do: 'evict', node: input.node.metadata.name ?? '', pods, gracePeriodSeconds };
  const retries = left.flatMap(({ pod, ref }) => (pod === 'evict' ? [heldMs(ref.uid)] : []));
  const isHeld = left.some((one) => rank(one) < 2);
  return { do: 'wait', why: waitsFor(left, input), isHeld, requeueAfterMs: Math.max(1, Math.min(leftMs, POLL_MS, ...retries)) };
}

function waitsFor(left: readonly RemainingPod[], { heldBack }: DrainInput): string {
  const say = (one: RemainingPod): string => {
    const name = nameOf(one.ref);
    if (one.pod === 'block') return `${name} ${one.why}`;
    if (one.pod === 'evict') return `${name} is not evicted: ${clip(heldBack?.(one.ref.uid)?.why ?? 'not tried yet')}`;
    if (one.overdueMs === 0) return `${name} is terminating`;
    return `${name} is terminating, ${Math.round(one.overdueMs / 1_000)} s longer than its grace period allows`;
  };
  return named(left.toSorted((a, b) => rank(a) - rank(b)).map(say));
}

/** Pods that a user can do something about come first. */
const rank = (one: RemainingPod): number => (one.pod !== 'terminating' ? 0 : one.overdueMs > 0 ? 1 : 2);

function named(texts: readonly string[]): string {
  const more = texts.length - MAX_NAMED;
  return `${texts.slice(0, MAX_NAMED).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

function patch(node: Readonly<Node>, what: 'cordon' | 'restart timer', body: Record<string, unknown>): DrainStep {
  return { do: 'patch', what, node: node.metadata.name ?? '', body };
}

function nameOf({ namespace, name }: PodRef): string {
  return `${namespace}/${name}`;
}

function clip(text: string): string {
  return text.length > MAX_WHY ? `${cut(text, MAX_WHY)}...` : text;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const CORDON_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
/** A kubelet that is slow to report the end of a pod is not stuck yet. */
const TERMINATION_MARGIN_MS: Millis = 30_000;

/** What a drain does with a pod. */
type PodDecision =
  | { pod: 'leave' }
  | { pod: 'evict'; ref: PodRef }
  /** `overdueMs`: how long it has been terminating beyond its grace period and a margin of 30 s; 0 while it is in time. */
  | { pod: 'terminating'; ref: PodRef; overdueMs: Millis }
  | { pod: 'block'; ref: PodRef; why: string };

/**
 * Left alone: pods of DaemonSets, whose controller ignores cordons; mirror pods, which the kubelet owns; pods that have ended; and pods that came
 * after the drain began because they tolerate the cordon: their owner would create them here again.
 * @param startedAt - of the drain; undefined: it has not begun
 */
export function decidePod(pod: Readonly<Pod>, policy: DrainPolicy, startedAt: Millis | undefined, now: Millis): PodDecision {
  const { metadata, spec, status } = pod;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) return { pod: 'leave' };
  if (owner?.kind === 'DaemonSet') return { pod: 'leave' };
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return { pod: 'leave' };
  const ref = { namespace: metadata.namespace ?? '', name: metadata.name ?? '', uid: metadata.uid ?? '' };
  if (metadata.deletionTimestamp !== undefined) {
    // The time at which its grace period ends.
    const overdueMs = now - Date.parse(metadata.deletionTimestamp) - TERMINATION_MARGIN_MS;
    return { pod: 'terminating', ref, overdueMs: overdueMs > 0 ? overdueMs : 0 };
  }
  if (startedAt !== undefined && toleratesCordon(pod) && Date.parse(metadata.creationTimestamp ?? '') > startedAt) return { pod: 'leave' };
  if (owner === undefined && policy.unmanagedPods === 'Block') return { pod: 'block', ref, why: 'has no controller' };
  const hasEmptyDir = spec?.volumes?.some((volume) => volume.emptyDir !== undefined) === true;
  if (hasEmptyDir && policy.emptyDir === 'Block') return { pod: 'block', ref, why: 'has an emptyDir volume' };
  return { pod: 'evict', ref };
}

function toleratesCordon({ spec }: Readonly<Pod>): boolean {
  return spec?.tolerations?.some((toleration) => toleratesTaint(toleration, CORDON_TAINT)) === true;
}
