import type { Millis } from '../../base/clock.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { sameSource, type SpecSource } from '../../agent/checkpoint/source.ts';
import { fleetState, isVerdict, sameSpec, type FleetNode } from '../fleet/fleet-node.ts';
import { conditionOf, conditionsOf, fleetNode } from '../fleet/read-fleet-node.ts';
import type { ServerFacts } from '../fleet/server-facts.ts';
import { startOf, wasClockSet, type ClockGap } from './clock-gaps.ts';
import { ASSIGNED_AT_ANNOTATION, ROLLOUT_ANNOTATION } from './types.ts';

/** A node as a rollout sees it. */
export interface RolloutNode extends FleetNode {
  labels: Readonly<Record<string, string>>;
  /** The Node, and its NodeConfig where it has one: as the caches have them. */
  object: Readonly<KubeObject>;
  config: Readonly<KubeObject> | undefined;
  /** Name of the rollout that assigned it last. */
  rollout: string | undefined;
  /** When that was; ms since the epoch. */
  assignedAt: Millis | undefined;
  /** The agent reports that its kubelet is not healthy. */
  unhealthy: boolean;
  /** Marked as unschedulable, by any writer. */
  cordoned: boolean;
}

/** Reads a node from its Node and its NodeConfig. Pure. */
export function rolloutNode(object: Readonly<KubeObject>, config: Readonly<KubeObject> | undefined, serves: ServerFacts): RolloutNode {
  const seen = fleetNode(object, config, serves);
  const annotations = (seen.carrier === 'nodeconfig' ? config : object)?.metadata.annotations ?? {};
  const at = Date.parse(annotations[ASSIGNED_AT_ANNOTATION] ?? '');
  const spec = (object as { spec?: unknown }).spec;
  return {
    ...seen,
    labels: object.metadata.labels ?? {},
    object,
    config,
    rollout: annotations[ROLLOUT_ANNOTATION],
    assignedAt: Number.isNaN(at) ? undefined : at,
    unhealthy: conditionOf('Healthy', conditionsOf(config))?.['status'] === 'False',
    cordoned: isJsonObject(spec) && spec['unschedulable'] === true,
  };
}

/** By Node of the cache, whose objects never change. */
const views = new WeakMap<object, { config: object | undefined; view: RolloutNode }>();

/** {@link rolloutNode}, computed once for as long as neither object changes, for the controller and the fleet page. */
export function viewOf(node: Readonly<KubeObject>, config: Readonly<KubeObject> | undefined, serves: ServerFacts): RolloutNode {
  const known = views.get(node);
  if (known !== undefined && known.config === config) return known.view;
  const view = rolloutNode(node, config, serves);
  views.set(node, { config, view });
  return view;
}

/** On the way to any configuration, also one that was assigned by hand. */
export const isChanging = (node: RolloutNode): boolean => Boolean(node.agent?.trial) || (fleetState(node) === 'pending' && !isKept(node));

/** The NodeConfig was deleted, or is missing in the backup that etcd was restored from: the node keeps its configuration until it is assigned another. */
const isKept = ({ carrier, config, assigned, active }: RolloutNode): boolean =>
  carrier === 'nodeconfig' && config === undefined && sameSource(assigned, active);

/** Not Ready, or marked as unschedulable. A kubelet that has never reported is not Ready. */
export const isDown = ({ ready, cordoned }: RolloutNode): boolean => ready !== true || cordoned;

/** The agent reports an unhealthy kubelet, or an error of the configuration: other nodes must be the canaries. */
export const isDegraded = ({ unhealthy, error, isBehind }: RolloutNode): boolean => unhealthy || (error !== null && !isBehind);

/**
 * Where a node stands on its way to a revision.
 *
 * ```text
 * no-agent   nothing reports for it: it is not touched
 * waiting    it is not assigned the revision
 * in-flight  assigned, and not settled yet
 * settled    active = assigned = the revision, no error, no trial runs, its kubelet healthy and the Node Ready
 * failed     it rejected or undid the revision, or was not settled by the deadline
 * ```
 */
export type RolloutState =
  { at: 'no-agent' | 'waiting' | 'settled' } | { at: 'in-flight'; why: string; failsAt: Millis } | { at: 'failed'; error: string };

/** The status of a Node does not say which spec it is about: for this long an error may be about the previous configuration, in ms. */
const STALE_ERROR_MS: Millis = 30_000;

/** Another attempt at the same revision: nodes that have the revision are not assigned it again, and their agents must first see the request to retry. */
export interface RetryAttempt {
  /** When the attempt began. */
  since: Millis;
  /** Of the copy that requests the attempt; undefined: the cache has no such copy yet. */
  resourceVersion: string | undefined;
}

/** The facts that decide the state of a node. @member retryAttempt - absent: this is the first attempt */
export interface StateFacts {
  deadlineMs: Millis;
  now: Millis;
  gaps?: readonly ClockGap[];
  retryAttempt?: RetryAttempt | undefined;
}

/** @param target - null: the local configuration */
export function rolloutState(node: RolloutNode, target: SpecSource | null, facts: StateFacts): RolloutState {
  const { deadlineMs, now, gaps, retryAttempt } = facts;
  const state = fleetState(node);
  if (state === 'no-agent' && !sameSpec(node.wanted, target)) return { at: 'no-agent' };
  if (!sameSpec(node.wanted, target)) return { at: 'waiting' };
  // Other errors may pass, such as a failed download of the ConfigMap: they have until the deadline. No agent rejects its local config: a verdict is about an
  // earlier assignment then.
  if (node.error !== null && target !== null && isVerdict(state)) {
    const assignedAt = node.carrier === 'node' && node.assignedAt !== undefined ? startOf(node.assignedAt, now, gaps) : -Infinity;
    const countsAt = Math.max(now, assignedAt + STALE_ERROR_MS, staleErrorUntil(node, target, facts));
    if (now >= countsAt) return { at: 'failed', error: node.error };
    return { at: 'in-flight', why: 'it still reports an earlier error', failsAt: countsAt };
  }
  const runs = !node.isBehind && sameSpec(node.assigned, target) && sameSource(node.assigned, node.active);
  const why = whyNotSettled(node, runs);
  if (why === undefined) return { at: 'settled' };
  // No deadline for a node that proved the revision and is not Ready later on, nor without the annotation: somebody else assigned it, at an unknown time.
  const isProved = runs && sameSource(node.active, node.lastKnownGood);
  const [assigned = 0, asked = 0] = [node.assignedAt, retryAttempt?.since].map((at) => at && startOf(at, now, gaps));
  const failsAt = isProved || node.assignedAt === undefined ? Infinity : Math.max(assigned, asked) + deadlineMs;
  return now >= failsAt ? { at: 'failed', error: `not settled by the deadline: ${why}` } : { at: 'in-flight', why, failsAt };
}

/**
 * Until when a verdict may be about the previous attempt. A node that began with the revision reports the version of the copy, and will begin with the version
 * that requests the retry: it has the usual deadline for that. A node that rejected the revision reports no version, and the same error if it rejects it again.
 */
function staleErrorUntil(
  { assigned }: RolloutNode,
  target: SpecSource | null,
  { deadlineMs, now, gaps, retryAttempt }: StateFacts,
): Millis {
  if (retryAttempt === undefined) return -Infinity;
  const { since, resourceVersion } = retryAttempt;
  const isBegun = assigned !== null && sameSpec(assigned, target);
  if (isBegun && assigned.resourceVersion === resourceVersion) return -Infinity;
  return startOf(since, now, gaps) + (isBegun ? deadlineMs : STALE_ERROR_MS);
}

/** The clock was set since the node was assigned: the deadline starts again, and the annotation must be updated for the next process. */
export function hasWrongTime({ assignedAt }: RolloutNode, now: Millis, gaps?: readonly ClockGap[]): boolean {
  return assignedAt !== undefined && wasClockSet(assignedAt, now + SKEW_MS, gaps);
}
/** Clocks of two machines may differ by this, in ms. */
const SKEW_MS: Millis = 60_000;

/** A configuration on trial may still be rolled back, so a node is not settled before its trial ends. */
function whyNotSettled(node: RolloutNode, runs: boolean): string | undefined {
  if (node.error !== null && !node.isBehind) return node.error;
  if (!runs) return 'its agent has not applied it yet';
  if (node.unhealthy) return 'its kubelet is not healthy';
  if (node.ready !== true) return 'it is not Ready';
  return node.agent?.trial ? 'its trial is running' : undefined;
}
