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
  /** The agent says that its kubelet is not healthy. */
  unhealthy: boolean;
  /** Marked as unschedulable, by anybody. */
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

/** Of nodes that have not changed since: objects of a cache never change. */
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

/** Its NodeConfig was deleted, or is not in the backup that etcd was restored from: it stays with what it runs until it is assigned something. */
const isKept = ({ carrier, config, assigned, active }: RolloutNode): boolean =>
  carrier === 'nodeconfig' && config === undefined && sameSource(assigned, active);

/** Not Ready, or marked as unschedulable. A kubelet that has never reported is not Ready. */
export const isDown = ({ ready, cordoned }: RolloutNode): boolean => ready !== true || cordoned;

/** Its agent says that its kubelet is not healthy, or that something is wrong with its configuration: others are the canaries. */
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
export type Standing =
  { at: 'no-agent' | 'waiting' | 'settled' } | { at: 'in-flight'; why: string; failsAt: Millis } | { at: 'failed'; error: string };

/** A Node does not say which spec its status speaks of: for this long an error may be one of the configuration before, in ms. */
const LEFTOVER_MS: Millis = 30_000;

/** Another attempt at the same revision: nodes that had it already are not assigned it again, and their agents have yet to see that it is to be tried. */
export interface TriedAgain {
  /** When the attempt began. */
  since: Millis;
  /** Of the copy that asks for it; undefined: it does not yet, as far as can be known. */
  resourceVersion: string | undefined;
}

/** How a node is judged at a time. @member triedAgain - absent: it is the first attempt */
export interface Judging {
  deadlineMs: Millis;
  now: Millis;
  gaps?: readonly ClockGap[];
  triedAgain?: TriedAgain | undefined;
}

/** @param target - null: the local configuration */
export function standingOf(node: RolloutNode, target: SpecSource | null, judging: Judging): Standing {
  const { deadlineMs, now, gaps, triedAgain } = judging;
  const state = fleetState(node);
  if (state === 'no-agent' && !sameSpec(node.wanted, target)) return { at: 'no-agent' };
  if (!sameSpec(node.wanted, target)) return { at: 'waiting' };
  // Other errors may pass: the ConfigMap could not be downloaded at that moment. They have until the deadline. No agent refuses its local config: a verdict is
  // on what was assigned before.
  if (node.error !== null && target !== null && isVerdict(state)) {
    const assignedAt = node.carrier === 'node' && node.assignedAt !== undefined ? startOf(node.assignedAt, now, gaps) : -Infinity;
    const countsAt = Math.max(now, assignedAt + LEFTOVER_MS, leftoverUntil(node, target, judging));
    if (now >= countsAt) return { at: 'failed', error: node.error };
    return { at: 'in-flight', why: 'it still reports an earlier error', failsAt: countsAt };
  }
  const runs = !node.isBehind && sameSpec(node.assigned, target) && sameSource(node.assigned, node.active);
  const why = whyNotSettled(node, runs);
  if (why === undefined) return { at: 'settled' };
  // One that has proved the revision, and is not Ready later on, is waited for. Without a mark somebody else assigned it, nobody knows when.
  const isProved = runs && sameSource(node.active, node.lastKnownGood);
  const [assigned = 0, asked = 0] = [node.assignedAt, triedAgain?.since].map((at) => at && startOf(at, now, gaps));
  const failsAt = isProved || node.assignedAt === undefined ? Infinity : Math.max(assigned, asked) + deadlineMs;
  return now >= failsAt ? { at: 'failed', error: `not settled by the deadline: ${why}` } : { at: 'in-flight', why, failsAt };
}

/**
 * Until when a verdict may be one of the attempt before. What a node began with names the version of the copy, and a later one that asks for another attempt
 * is begun with as well: it has as long for it as for any other. What it refused names none, and stays as it is where the node refuses it again.
 */
function leftoverUntil({ assigned }: RolloutNode, target: SpecSource | null, { deadlineMs, now, gaps, triedAgain }: Judging): Millis {
  if (triedAgain === undefined) return -Infinity;
  const { since, resourceVersion } = triedAgain;
  const isBegun = assigned !== null && sameSpec(assigned, target);
  if (isBegun && assigned.resourceVersion === resourceVersion) return -Infinity;
  return startOf(since, now, gaps) + (isBegun ? deadlineMs : LEFTOVER_MS);
}

/** The clock was set since it was assigned: its deadline begins again, and its annotation has to say so to the next process. */
export function hasWrongTime({ assignedAt }: RolloutNode, now: Millis, gaps?: readonly ClockGap[]): boolean {
  return assignedAt !== undefined && wasClockSet(assignedAt, now + SKEW_MS, gaps);
}
/** Clocks of two machines differ by this, in ms. */
const SKEW_MS: Millis = 60_000;

/** A configuration on trial may still be undone: until then the node counts as one that may fail. */
function whyNotSettled(node: RolloutNode, runs: boolean): string | undefined {
  if (node.error !== null && !node.isBehind) return node.error;
  if (!runs) return 'its agent has not applied it yet';
  if (node.unhealthy) return 'its kubelet is not healthy';
  if (node.ready !== true) return 'it is not Ready';
  return node.agent?.trial ? 'its trial is running' : undefined;
}
