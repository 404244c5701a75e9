import { selects } from './rules.ts';
import { planClaim } from '../../kube/controller/claim.ts';
import { daemonSets } from '../../kube/api/object.ts';
import { planTruncation, planHistory } from '../common/history/plan.ts';
import type { SetEvent } from '../common/events.ts';
import type { WakeUp } from '../common/reconcile.ts';
import type { Revision } from '../common/history/contract.ts';
import { noActions, type Creation, type Deletion, type PodActions } from './actions.ts';
import type { SetFacts, Observed } from './observe.ts';
import type { NodeState } from './node-state.ts';
import { manage } from './manage.ts';
import { pendingMsOf } from './status.ts';
import { planUpdate, planSurge } from './update.ts';

/**
 * Which pods and revisions are the set's, and which of its revisions is the present one: orphans that the selector matches are adopted, pods that it no
 * longer matches are released, and the history is put in order. What follows is planned as if that were done. Pure.
 */
export function planOwnership({ revisions: candidates, orphans, ownPods, count, ...observed }: Observed): SetFacts {
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
  );
  const { summary, unselected } = count(history.hash, adopt);
  return { ...observed, adoption: { pods: { keep: [], adopt, release: [...unselected] }, revisions }, history, summary };
}

/** Pods made, and pods removed, in one pass; the events of these bring the next one. */
export const BURST = 250;

/** What is to be done about one set when its ownership is settled, in this order; the status comes after it. Nothing in it is nothing to do. */
export interface Plan {
  events: readonly SetEvent[];
  creations: readonly Creation[];
  deletions: readonly Deletion[];
  /** Nodes that should have a pod and have no room for it. */
  suspendedOn: readonly string[];
  truncate: readonly Readonly<Revision>[];
  wakeUps: readonly WakeUp[];
}

/** What to do about pods and old revisions: nothing while what the last reconcile did is not in the cache yet. Updates wait until nothing is missing or surplus. */
export function plan(facts: SetFacts): Plan {
  const pendingMs = pendingMsOf(facts);
  const pending = pendingMs > 0;
  const states = pending ? [] : facts.summary.actionable();
  const actions = pending ? noActions() : podActions(facts, states);
  const wakeUps: WakeUp[] = [];
  if (facts.pendingMs > 0) wakeUps.push({ requeueAfter: facts.pendingMs, why: 'creations or deletions are not seen yet' });
  if (facts.pendingMs < pendingMs) wakeUps.push({ requeueAfter: pendingMs, why: 'pods get the label of another revision' });
  for (const { changesAt } of facts.summary.pendingNodes.values())
    if (changesAt !== undefined) wakeUps.push({ requeueAfter: changesAt - facts.now, why: 'a pod will be available' });
  return {
    events: actions.events,
    creations: actions.creations.slice(0, BURST),
    deletions: actions.deletions.slice(0, BURST),
    suspendedOn: states.flatMap(({ work, nodePods }) => (work?.suspended === true ? [nodePods.node] : [])),
    truncate: pending ? [] : planTruncation(facts.history, new Set(facts.summary.hashes.keys()), facts.rules.historyLimit),
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
      ...(held
        ? [{ requeueAfter: creationsHeldMs, why: 'the API server changed the node affinity of the last pod that was created' }]
        : []),
    ],
  };
}

function mayUpdate({ rules: { update, optIns } }: SetFacts): boolean {
  return update.type === 'RollingUpdate' && !optIns.paused && optIns.problems.length === 0;
}
