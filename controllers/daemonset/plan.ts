import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.js';
import type { Millis } from '../../base/clock.ts';
import { planTruncation } from '../common/history/plan.ts';
import type { SetEvent } from '../common/events.ts';
import type { WakeUp } from '../common/reconcile.ts';
import type { HistoryStep, Revision } from '../common/history/contract.ts';
import { noActions, type Creation, type Deletion, type PodActions } from './actions.ts';
import type { SetFacts } from './facts.ts';
import type { NodeState } from './node-state.ts';
import { manage } from './manage.ts';
import { planProgress, statusChange, statusOf } from './status.ts';
import { planUpdate, planSurge } from './update.ts';

/** Pods made, and pods removed, in one pass; the events of these bring the next one. */
export const BURST = 250;

/** What is to be done about one set, in this order. Nothing in it is nothing to do. */
export interface Plan {
  adoption: SetFacts['adoption'];
  history: readonly HistoryStep[];
  events: readonly SetEvent[];
  creations: readonly Creation[];
  deletions: readonly Deletion[];
  /** Nodes that should have a pod and have no room for it. */
  suspendedOn: readonly string[];
  truncate: readonly Readonly<Revision>[];
  /** undefined: it is right as it is, or is not to be written yet. */
  status: DaemonSetStatus | undefined;
  wakeUps: readonly WakeUp[];
}

/**
 * The whole decision on one set. While what the last pass did is not seen yet it is status alone, and that of the generation before; updates wait
 * until nothing is missing or surplus.
 */
export function plan(facts: SetFacts): Plan {
  const pendingMs = Math.max(facts.pendingMs, relabelMs(facts));
  const pending = pendingMs > 0;
  const states = pending ? [] : facts.summary.actionable();
  const actions = pending ? noActions() : podActions(facts, states);
  const { status, wakeUps } = planStatus({ ...facts, pendingMs });
  if (facts.pendingMs > 0) wakeUps.push({ requeueAfter: facts.pendingMs, why: 'creations or deletions are not seen yet' });
  if (facts.pendingMs < pendingMs) wakeUps.push({ requeueAfter: pendingMs, why: 'pods were told another revision' });
  for (const { changesAt } of facts.summary.pendingNodes.values())
    if (changesAt !== undefined) wakeUps.push({ requeueAfter: changesAt - facts.now, why: 'a pod will be available' });
  return {
    adoption: facts.adoption,
    history: facts.history.steps,
    events: actions.events,
    creations: actions.creations.slice(0, BURST),
    deletions: actions.deletions.slice(0, BURST),
    suspendedOn: states.flatMap(({ work, nodePods }) => (work?.suspended === true ? [nodePods.node] : [])),
    truncate: pending ? [] : planTruncation(facts.history, new Set(facts.summary.hashes.keys()), facts.rules.historyLimit),
    status,
    wakeUps: [...actions.wakeUps, ...wakeUps],
  };
}

/** Pods whose revision is a duplicate are told otherwise in this very pass: what they carry now says nothing. */
function relabelMs({ history }: SetFacts): Millis {
  return history.steps.some((step) => step.do === 'relabel') ? 1_000 : 0;
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
      ...(held ? [{ requeueAfter: creationsHeldMs, why: 'the server changed the node affinity of the last pod made' }] : []),
    ],
  };
}

function mayUpdate({ rules: { update, optIns } }: SetFacts): boolean {
  return update.type === 'RollingUpdate' && !optIns.paused && optIns.problems.length === 0;
}

function planStatus(facts: SetFacts): { status: DaemonSetStatus | undefined; wakeUps: WakeUp[] } {
  const { rules, summary, memory, pendingMs } = facts;
  const { conditions, deadlineIn } = planProgress(facts);
  const wakeUps: WakeUp[] = deadlineIn === undefined ? [] : [{ requeueAfter: deadlineIn, why: 'the progress deadline' }];
  const wants = statusOf(rules.set, summary.counts, { observed: pendingMs === 0, conditions });
  const change = statusChange(rules.set.status, wants);
  if (change === 'nothing') return { status: undefined, wakeUps };
  if (change === 'numbers' && memory.statusHeldMs > 0)
    return { status: undefined, wakeUps: [...wakeUps, { requeueAfter: memory.statusHeldMs, why: 'the status was written a moment ago' }] };
  return { status: wants, wakeUps };
}
