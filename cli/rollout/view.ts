import type { SpecSource } from '../../agent/checkpoint/source.ts';
import type { Millis } from '../../base/clock.ts';
import { fleetState } from '../../controllers/fleet/fleet-node.ts';
import { specOf, type Placed } from '../../controllers/rollout/contract.ts';
import { isDegraded, rolloutState, rolloutNode, type RolloutNode } from '../../controllers/rollout/node.ts';
import { hasCondition } from '../../controllers/rollout/drain/record.ts';
import { isDrainedBy, nodeOf } from '../../controllers/rollout/maintenance.ts';
import { hasPrecedenceOver } from '../../controllers/rollout/observe.ts';
import { inOrder } from '../../controllers/rollout/grouping.ts';
import { stepsFor, targetOf, type Rules, type Step } from '../../controllers/rollout/rules.ts';
import type { NodeConfigRollout } from '../../controllers/rollout/types.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import { trialLeft } from '../fleet/node-view.ts';
import type { FleetObjects } from './fleet-objects.ts';
import { objectsOf, outcomeOf, readRules } from './rollouts.ts';

/** A node of a rollout, for people. */
export interface NodeView {
  node: string;
  state: 'settled' | 'in-flight' | 'failed' | 'waiting' | 'not-ready' | 'no-agent';
  /** Reason for the state; '' if the state needs none. */
  detail: string;
}

export interface StepView {
  /** From 1. */
  step: number;
  /** The step in spec, with hold and approval. */
  text: string;
  state: 'done' | 'current' | 'waiting';
  /** Nodes that this step adds. */
  nodes: readonly NodeView[];
}

export interface RolloutView {
  rollout: Readonly<NodeConfigRollout>;
  rules: Rules;
  steps: readonly StepView[];
}

/** The nodes that this rollout selects and no older rollout selects. Pure. */
export function nodesOf(rollout: Readonly<NodeConfigRollout>, rules: Rules, fleet: FleetObjects): RolloutNode[] {
  const older = [...fleet.rollouts.values()]
    .filter((other) => hasPrecedenceOver(other, rollout))
    .map(readRules)
    .filter(({ problems }) => problems.length === 0);
  const found: RolloutNode[] = [];
  for (const [name, object] of fleet.nodes) {
    const { labels } = object.metadata;
    if (!matchesLabels(rules.selector, labels) || older.some(({ selector }) => matchesLabels(selector, labels))) continue;
    found.push(rolloutNode(object, fleet.nodeConfigs.get(name), fleet.serves));
  }
  return found;
}

/** Steps and their nodes: first the nodes that have the revision, then the others in the order in which the controller will change them. Pure. */
export function viewOf(rollout: Readonly<NodeConfigRollout>, fleet: FleetObjects, now: Millis): RolloutView {
  const rules = readRules(rollout);
  const { revision, failures, attemptAt } = rollout.status ?? {};
  const retryAttempt = attemptAt === undefined ? undefined : { since: Date.parse(attemptAt), resourceVersion: undefined };
  const ordered = inOrder(nodesOf(rollout, rules, fleet), rules.uid);
  const failed = new Map(objectsOf(failures).map(({ node, error }) => [node, error]));
  const target = revision === undefined ? undefined : targetFor(revision, ordered, rules);
  // A node in status.failures failed in the current attempt, even if its error is older than attemptAt.
  const placed = ordered.map((node): Placed => {
    const facts = { deadlineMs: rules.nodeDeadlineMs, now, retryAttempt: failed.has(node.node) ? undefined : retryAttempt };
    return { node, state: target === undefined ? { at: 'waiting' } : rolloutState(node, target, facts) };
  });
  const views = placed.map((one) => ({ ...nodeView(one, { rules, failed, now }), isDegraded: isDegraded(one.node) }));
  const last = ({ state, isDegraded: isLater }: (typeof views)[number]): number =>
    state === 'waiting' ? (isLater ? 2 : 1) : state === 'not-ready' || state === 'no-agent' ? 3 : 0;
  return {
    rollout,
    rules,
    steps: stepsOf(
      rules,
      rollout,
      views.toSorted((a, b) => last(a) - last(b)),
    ),
  };
}

/** The assignment of the revision, taken from a node that has it: the key in spec may have changed since. */
function targetFor(revision: string, nodes: readonly RolloutNode[], rules: Rules): SpecSource | null {
  const { namespace } = rules.configMap;
  return nodes.find(({ wanted }) => wanted?.name === revision && wanted.namespace === namespace)?.wanted ?? specOf(rules, revision, []);
}

function nodeView(
  { node, state }: Placed,
  { rules, failed, now }: { rules: Rules; failed: ReadonlyMap<string, string>; now: Millis },
): NodeView {
  const name = node.node;
  switch (state.at) {
    case 'settled':
      return { node: name, state: 'settled', detail: '' };
    case 'in-flight': {
      const left = trialLeft(node, now);
      return { node: name, state: 'in-flight', detail: left === undefined ? state.why : `${state.why}, ${left} left` };
    }
    case 'failed':
      return { node: name, state: 'failed', detail: state.error };
    case 'waiting':
    case 'no-agent': {
      const error = failed.get(name);
      // A node that could not be drained never had the revision, so it was not rolled back.
      if (error !== undefined)
        return { node: name, state: 'failed', detail: error.startsWith('drain: ') ? error : `${error}; rolled back` };
      if (isDrainedBy(node, rules))
        return { node: name, state: 'in-flight', detail: hasCondition(nodeOf(node), 'Drained') ? 'drained' : 'being drained' };
      if (fleetState(node) === 'no-agent') return { node: name, state: 'no-agent', detail: 'no agent has reported' };
      if (node.ready !== true) return { node: name, state: 'not-ready', detail: 'it is not Ready' };
      return { node: name, state: 'waiting', detail: node.cordoned ? 'it is cordoned' : '' };
    }
  }
}

function stepsOf(rules: Rules, rollout: Readonly<NodeConfigRollout>, nodes: readonly NodeView[]): StepView[] {
  const { step: current = 1, phase } = rollout.status ?? {};
  const isOver = phase === 'Complete' || outcomeOf(rollout) === 'complete';
  let from = 0;
  return stepsFor(rules, nodes.length).map((step, at, { length }) => {
    const isLast = at === length - 1;
    const to = Math.max(from, isLast ? nodes.length : targetOf(step, nodes.length));
    const own = nodes.slice(from, to);
    from = to;
    const state = isOver || at + 1 < current ? 'done' : at + 1 === current && rollout.status?.phase !== undefined ? 'current' : 'waiting';
    return { step: at + 1, text: stepText(step), state, nodes: own };
  });
}

/** `10%, hold 10m, then approval`. */
export function stepText({ nodes, holdMs, approve }: Step): string {
  const count = typeof nodes === 'number' ? `${nodes} ${nodes === 1 ? 'node' : 'nodes'}` : nodes;
  return `${count}${holdMs > 0 ? `, hold ${holdText(holdMs)}` : ''}${approve ? ', then approval' : ''}`;
}

/** Go's notation without zeros at the end: `10m`, `1h30m`. */
function holdText(ms: Millis): string {
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms % 60_000) / 1000];
  return `${h > 0 ? `${h}h` : ''}${m > 0 ? `${m}m` : ''}${s > 0 || h + m === 0 ? `${s}s` : ''}`;
}
