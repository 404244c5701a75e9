import type { Millis } from '../../base/clock.ts';
import { lastRefusal, type RecordedEvent } from '../common/events.ts';
import type { Revision } from '../common/history/contract.ts';
import { whyNotAvailable } from '../common/pods.ts';
import { noMemory } from '../common/set-memory.ts';
import type { SetFacts } from './observe.ts';
import type { NodeState } from './node-state.ts';
import { limitsOf, type Limits } from './update.ts';
import { type Decide, decision, type Reason } from './placement/node-decision.ts';
import { decideByFit } from './placement/simulate.ts';
import { plan, type Plan } from './plan.ts';
import { isTerminating, nameOf } from './pods.ts';
import { rulesOf, type Rules } from './rules.ts';
import { recount } from './summary.ts';
import type { DaemonSet, Node, Placement, Pod } from '../common/types.ts';

/** The state of a set on one node, and the first thing that the set waits for there. */
export interface Explained {
  /** Name of the node. */
  object: string;
  /**
   * One word, for scripts. No pod wanted: `node-name`, `node-selector`, `node-affinity`, `taint`, `host-ports`, `resources`, `no-node`. Waits for a pod:
   * `creating`, `backoff`, `terminating`, `not-available`. Waits for an update: `updating`, `budget`, `paused`, `kept`, `on-delete`. Waits for nothing: `runs`.
   */
  reason: string;
  /** For people. */
  detail: string;
}

/** A DaemonSet, and everything in the cluster that its controller reads to plan for it. */
export interface SetInCluster {
  set: Readonly<DaemonSet>;
  nodes: readonly Readonly<Node>[];
  /** All pods of the set's namespace; of all namespaces where the controller places pods. */
  pods: readonly Readonly<Pod>[];
  /** All revisions of the set's namespace. */
  revisions: readonly Readonly<Revision>[];
  /** About the set; none without the right to read them. */
  events: readonly Readonly<RecordedEvent>[];
  /** Wall clock, in ms. */
  now: Millis;
  placement: Placement;
}

/** The state of a set on each node, as a controller that has just started would decide. */
export function explainSet({ set, placement, nodes, events, ...cluster }: SetInCluster): Explained[] {
  const rules = rulesOf(set, placement);
  const untouched = whyUntouched(rules);
  if (untouched !== undefined) return nodes.map(nameOf).toSorted().map((object) => ({ object, ...untouched })); // prettier-ignore
  const decide = placement === 'controller' ? byFit(rules, cluster.pods) : decision(rules);
  const { facts, states: verdicts } = recount(rules, { ...cluster, nodes, pendingMs: 0, memory: noMemory }, decide);
  const refusal = lastRefusal(events);
  const rows = explain(facts, verdicts);
  if (refusal === undefined) return rows;
  return rows.map((row) => (row.reason === 'creating' ? { ...row, detail: `a pod is to be created; ${refusal}` } : row));
}

/** Why a controller does not sync the set at all; undefined when it does. */
function whyUntouched({ set, selector, tooLarge }: Rules): Omit<Explained, 'object'> | undefined {
  if (set.metadata.deletionTimestamp !== undefined)
    return { reason: 'deleting', detail: 'the set is terminating; the garbage collector deletes its pods' };
  if (tooLarge !== undefined) return { reason: 'too-large', detail: `the set is not synced: ${tooLarge}` };
  switch (selector.kind) {
    case 'labels':
      return undefined;
    case 'all':
      return { reason: 'selector', detail: 'the set is not synced: its selector is empty and would select all pods' };
    case 'bad':
      return { reason: 'selector', detail: `the set is not synced: invalid selector: ${selector.why}` };
  }
}

function byFit(rules: Rules, pods: SetInCluster['pods']): Decide {
  const onNode = Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? '');
  return decideByFit(rules, { indexed: (_, node) => onNode.get(node) ?? [] });
}

/**
 * Why each node has a pod of the set, or has none, or one of an old revision: computed with the controller's own plan.
 * @param states - of all nodes, including those where nothing is to be done
 */
export function explain(facts: SetFacts, states: readonly NodeState[]): Explained[] {
  const decided = plan(facts);
  const limits = limitsOf(facts.rules, facts.summary);
  return states
    .toSorted((a, b) => (a.nodePods.node < b.nodePods.node ? -1 : 1))
    .map((state) => ({ object: state.nodePods.node, ...explainOne(facts, state, decided, limits) }));
}

type Why = Omit<Explained, 'object'>;

function explainOne(facts: SetFacts, state: NodeState, decided: Plan, limits: Limits): Why {
  const { nodePods } = state;
  if (nodePods.known === undefined)
    return {
      reason: 'no-node',
      detail: `the node does not exist; ${podsOf([...nodePods.pods, ...nodePods.ended])} waits for it or is left over`,
    };
  const { run, schedule, keep, reason } = nodePods.known.decision;
  if (!run || !schedule) {
    const there =
      nodePods.pods.length === 0 ? '' : keep ? `; ${podsOf(nodePods.pods)} may stay` : `; to be deleted: ${podsOf(nodePods.pods)}`;
    return { reason: reason.kind, detail: `${refusal(reason)}${there}` };
  }
  return missing(facts, state, decided) ?? updateOf(facts, state, decided, limits) ?? runs(state);
}

/** No pod runs on the node, and one should. */
function missing(facts: SetFacts, { nodePods }: NodeState, decided: Plan): Why | undefined {
  const { node, pods } = nodePods;
  const failed = pods.find((pod) => !isTerminating(pod) && pod.status?.phase === 'Failed');
  if (failed !== undefined) {
    const { text } = whyNotAvailable(failed);
    return { reason: 'backoff', detail: `pod ${nameOf(failed)} ${text}; it is kept for inspection and replaced after a backoff` };
  }
  const alive = pods.filter((pod) => !isTerminating(pod));
  if (alive.length > 0) return undefined;
  const planned = decided.creations.some((creation) => creation.node === node);
  const [going] = pods;
  // With a surge the next pod is created beside a terminating one.
  if (going !== undefined && !planned)
    return {
      reason: 'terminating',
      detail: `pod ${nameOf(going)} is ${whyNotAvailable(going).text}; the next pod is created once this one is deleted`,
    };
  const later = facts.pendingMs > 0 ? 'the cache does not show the last writes yet' : 'other nodes come first';
  return { reason: 'creating', detail: planned ? 'a pod is about to be created' : `a pod will be created: ${later}` };
}

/** The node has a pod of an old revision. */
function updateOf({ rules }: SetFacts, state: NodeState, decided: Plan, limits: Limits): Why | undefined {
  const { updateState, fresh, old, nodePods } = state;
  if (old === undefined) return undefined;
  const which = `pod ${nameOf(old)} is of an old revision`;
  if (rules.update.type === 'OnDelete')
    return { reason: 'on-delete', detail: `${which}; with OnDelete it is replaced only once someone deletes it` };
  if (updateState === 'both' && fresh !== undefined)
    return {
      reason: 'updating',
      detail: `pod ${nameOf(old)} is deleted once pod ${nameOf(fresh)} is available: ${whyNotAvailable(fresh).text}`,
    };
  const chosen = [...decided.deletions, ...decided.creations].some(({ node }) => node === nodePods.node);
  if (chosen) return { reason: 'updating', detail: `${which}, and is about to be replaced` };
  const [problem] = rules.optIns.problems;
  if (problem !== undefined) return { reason: 'paused', detail: `${which}; no pod is replaced: invalid annotation: ${problem}` };
  if (rules.optIns.paused) return { reason: 'paused', detail: `${which}; the rollout is paused by dkc.dev/paused` };
  if (!limits.mayUpdate(state)) return { reason: 'kept', detail: `${which}; the node does not match dkc.dev/rollout-node-selector` };
  if (limits.updatable <= 0)
    return {
      reason: 'kept',
      detail: `${which}; dkc.dev/partition keeps ${String(rules.optIns.partition)} of the nodes at the old revision`,
    };
  const budget = rules.surging ? `maxSurge is ${limits.maxSurge}` : `maxUnavailable is ${limits.maxUnavailable}`;
  return { reason: 'budget', detail: `${which}; ${budget}: other nodes use up the limit or come first` };
}

function runs({ nodePods, counts }: NodeState): Why {
  const alive = nodePods.pods.find((pod) => !isTerminating(pod)) ?? nodePods.pods[0];
  if (alive === undefined) return { reason: 'creating', detail: 'a pod will be created' };
  if (counts.available === 1) return { reason: 'runs', detail: `pod ${nameOf(alive)} is available` };
  return { reason: 'not-available', detail: `pod ${nameOf(alive)} is not available: ${whyNotAvailable(alive).text}` };
}

function refusal(reason: Reason): string {
  switch (reason.kind) {
    case 'fits':
      return 'the pod fits';
    case 'node-name':
      return `the pod template sets nodeName ${reason.wanted}`;
    case 'node-selector':
      return `nodeSelector requires label ${reason.key}=${reason.wanted}; the node has ${reason.found ?? 'none'}`;
    case 'node-affinity':
      return 'no term of the required node affinity matches';
    case 'taint': {
      const { key, value, effect } = reason.taint;
      return `taint ${key}${value === undefined || value === '' ? '' : `=${value}`}:${effect} is not tolerated`;
    }
    case 'host-ports':
      return `another pod has host port ${reason.port}`;
    case 'resources':
      return `the pod requests ${reason.wanted} of ${reason.resource}; ${reason.free} is free`;
  }
}

function podsOf(pods: readonly Readonly<Pod>[]): string {
  return pods.length === 1 && pods[0] !== undefined ? `pod ${nameOf(pods[0])}` : `pods ${pods.map(nameOf).join(', ')}`;
}
