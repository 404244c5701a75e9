import type { InTurns } from '../../base/waiting.ts';
import { selects } from './rules.ts';
import { planClaim } from '../../kube/controller/claim.ts';
import { daemonSets } from '../../kube/api/object.ts';
import { planTruncation, planHistory } from '../common/history/plan.ts';
import type { SetEvent } from '../common/events.ts';
import type { WakeUp } from '../common/reconcile.ts';
import { availableWakeUp } from '../common/pods.ts';
import { daemonSetHistory, HASH_LABEL, type Revision } from '../common/history/contract.ts';
import { templateOf } from '../common/history/revision.ts';
import { noActions, type Creation, type Deletion, type PodActions } from './actions.ts';
import type { SetFacts, Observed } from './observe.ts';
import type { NodeState, Work } from './node-state.ts';
import { pendingMsOf } from './status.ts';
import { nameOf } from './pods.ts';
import type { Summary } from './summary.ts';
import { limitsOf, planUpdate, planSurge } from './update.ts';

/**
 * Which pods and revisions are the set's, and which of its revisions is the present one: orphans that the selector matches are adopted, pods that it no
 * longer matches are released, and the history is put in order. The rest is planned as if these writes had succeeded. Brings the counter of the set up to date
 * (`count`), since the hash of the present revision must be known for that; computes otherwise.
 * @returns undefined when there are more nodes to count
 */
export function planOwnership({ revisions: candidates, orphans, ownPods, count, ...observed }: Observed): SetFacts | undefined {
  const { rules } = observed;
  const { set } = rules;
  const isSelected = selects(rules);
  const revisions = planClaim(set, candidates, isSelected);
  const { adopt } = planClaim(set, orphans, isSelected);
  const history = planHistory(
    {
      owner: set,
      template: rules.template,
      collisionCount: set.status?.collisionCount,
      revisions: [...revisions.keep, ...revisions.adopt],
      get pods() {
        return [...ownPods(), ...adopt];
      },
    },
    daemonSets,
    daemonSetHistory,
  );
  const counted = count(history.hash, adopt);
  if (counted === undefined) return undefined;
  const { summary, unselected } = counted;
  return { ...observed, adoption: { pods: { keep: [], adopt, release: [...unselected] }, revisions }, history, summary };
}

/** Max pods created, and max pods deleted, in one pass; their events enqueue the next pass. */
const BURST = 250;

/** What to do for one set once its ownership is settled, in this order; the status is written after it. An empty plan does nothing. */
export interface Plan {
  events: readonly SetEvent[];
  creations: readonly Creation[];
  deletions: readonly Deletion[];
  /** Nodes that should have a pod and have no room for it. */
  suspendedOn: readonly string[];
  truncate: readonly Readonly<Revision>[];
  wakeUps: readonly WakeUp[];
}

/** In a turn after that of the count, if that was a long one. */
export function* planInTurns(facts: SetFacts): InTurns<Plan> {
  yield;
  return plan(facts);
}

/** What to do about pods and old revisions: nothing until the cache shows the last reconcile's writes. Updates wait until nothing is missing or surplus. */
export function plan(facts: SetFacts): Plan {
  const pendingMs = pendingMsOf(facts);
  const pending = pendingMs > 0;
  const states = pending ? [] : facts.summary.actionable();
  const actions = pending ? noActions() : podActions(facts, states);
  const wakeUps: WakeUp[] = [];
  if (facts.pendingMs > 0) wakeUps.push({ requeueAfter: facts.pendingMs, why: 'creations or deletions are not seen yet' });
  if (facts.pendingMs < pendingMs) wakeUps.push({ requeueAfter: pendingMs, why: 'pods get the label of another revision' });
  for (const { changesAt } of facts.summary.pendingNodes.values())
    if (changesAt !== undefined) wakeUps.push(availableWakeUp(changesAt, facts.now, facts.rules.minReadyMs));
  return {
    events: actions.events,
    creations: actions.creations.slice(0, BURST),
    deletions: actions.deletions.slice(0, BURST),
    suspendedOn: states.flatMap(({ work, nodePods }) => (work?.suspended === true ? [nodePods.node] : [])),
    truncate: pending
      ? []
      : planTruncation(facts.history, new Set(facts.summary.hashes.keys()), facts.rules.historyLimit, daemonSetHistory),
    wakeUps: [...actions.wakeUps, ...wakeUps],
  };
}

function podActions(facts: SetFacts, states: readonly NodeState[]): PodActions {
  const managed = manage(facts, states);
  const settled = managed.creations.length === 0 && managed.deletions.length === 0;
  const update = settled && mayUpdate(facts) ? (facts.rules.surging ? planSurge(facts, states) : planUpdate(facts, states)) : noActions();
  const creations = [...managed.creations, ...update.creations];
  const { creationsHeldMs } = facts.memory;
  const held = creations.length > 0 && creationsHeldMs > 0;
  return {
    creations: held ? [] : creations,
    deletions: [...managed.deletions, ...update.deletions],
    events: [...managed.events, ...update.events],
    wakeUps: [
      ...managed.wakeUps,
      ...update.wakeUps,
      ...(held ? [{ requeueAfter: creationsHeldMs, why: 'the API server changed the last pod that was created' }] : []),
    ],
  };
}

function mayUpdate({ rules: { update, optIns } }: SetFacts): boolean {
  return update.type === 'RollingUpdate' && !optIns.paused && optIns.problems.length === 0;
}

/** One pod on each node that should have one, none where none may be, whatever its revision. */
function manage(facts: SetFacts, states: readonly NodeState[]): PodActions {
  const actions = noActions();
  const revisionFor = newRevisions(facts);
  for (const state of states) {
    const { nodePods, work } = state;
    if (work === undefined) continue;
    const { node } = nodePods;
    if (nodePods.known === undefined) {
      for (const pod of work.remove) actions.deletions.push({ pod, node, reason: 'vanished' });
      continue;
    }
    if (work.create) actions.creations.push({ node, ...revisionFor(state) });
    const { keep } = nodePods.known.decision;
    for (const pod of work.remove) {
      const surplus = facts.rules.surging && pod === state.old ? 'surged' : 'surplus';
      actions.deletions.push({ pod, node, reason: keep ? surplus : 'misplaced' });
    }
    removeEnded(facts, node, work, actions);
    for (const reason of work.suspended ? (nodePods.known.decision.failedPlacement ?? []) : [])
      actions.events.push({ type: 'Warning', reason: 'FailedPlacement', message: `failed to place pod on "${node}": ${reason}` });
  }
  return actions;
}

/** A failed pod stays for a while, so that users can see why, and so that a node that rejects pods is not flooded. */
function removeEnded({ memory, rules }: SetFacts, node: string, { failed, succeeded }: Work, actions: PodActions): void {
  const { namespace = '' } = rules.set.metadata;
  const left = failed.length === 0 ? 0 : memory.backoffMs(node);
  if (left > 0) actions.wakeUps.push({ requeueAfter: left, why: `backoff of the failed pod on node ${node}` });
  else
    for (const pod of failed) {
      const message = `Found failed daemon pod ${namespace}/${nameOf(pod)} on node ${node}, will try to kill it`;
      actions.events.push({ type: 'Warning', reason: 'FailedDaemonPod', message });
      actions.deletions.push({ pod, node, reason: 'failed' });
    }
  for (const pod of succeeded) {
    const message = `Found succeeded daemon pod ${namespace}/${nameOf(pod)} on node ${node}, will try to delete it`;
    actions.events.push({ type: 'Normal', reason: 'SucceededDaemonPod', message });
    actions.deletions.push({ pod, node, reason: 'succeeded' });
  }
}

/**
 * Which revision a missing pod is made from: the present one, except on nodes that are kept at the old one. Those get the newest other revision
 * that a pod still has; when no pod has one, they get the present one too.
 */
function newRevisions(facts: SetFacts): (state: NodeState) => Omit<Creation, 'node'> {
  const { rules, history, summary } = facts;
  const present = { hash: history.hash, template: rules.template, present: true };
  const { optIns, update } = rules;
  const limited = optIns.partition !== undefined || optIns.rolloutNodes !== undefined || optIns.problems.length > 0;
  const kept = limited && update.type === 'RollingUpdate' ? keptRevision(history.old, summary) : undefined;
  if (kept === undefined) return () => present;
  const limits = limitsOf(rules, summary);
  let updatable = optIns.problems.length > 0 ? 0 : limits.updatable;
  return (state) => {
    if (!limits.mayUpdate(state) || updatable <= 0) return kept;
    updatable -= 1;
    return present;
  };
}

function keptRevision(old: readonly Readonly<Revision>[], { hashes }: Summary): Omit<Creation, 'node'> | undefined {
  for (const revision of old.toReversed()) {
    const hash = revision.metadata.labels?.[HASH_LABEL];
    const template = templateOf(revision);
    if (hash !== undefined && template !== undefined && hashes.has(hash)) return { hash, template, present: false };
  }
  return undefined;
}
