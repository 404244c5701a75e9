import { type Action, type Decision, type Facts, objectOf } from './contract.ts';
import { planBack } from './back.ts';
import { CLUSTER_WAIT, placeWakeUp } from './cluster/budget.ts';
import { recordFor } from './cluster/record.ts';
import { planForward } from './forward.ts';
import { deadlinesOf } from './grouping.ts';
import { placementContext, placeForward } from './grouping-rules.ts';
import { begin, planHistory } from './progress.ts';
import { statusOf } from './status.ts';
import { pendingWakeUps, touchesOf } from './touches.ts';
import { stepsFor } from './rules.ts';
import { nodesText } from './text.ts';
import type { Count, RolloutStatus } from './types.ts';
import type { WakeUp } from '../common/reconcile.ts';

/** What to do for a rollout now. The status is written before the actions are executed. */
export interface Plan {
  actions: readonly Action[];
  status: RolloutStatus;
  events: readonly RolloutEvent[];
  wakeUps: readonly WakeUp[];
  /** The next step depends on the gates: check them, and plan again. */
  needsGates: boolean;
  /** The rollout waits in line for a place in the cluster. */
  waitsForPlace: boolean;
  /** What the record of touches must contain before anything else is written; undefined: it needs no write. */
  record: Record<string, string> | undefined;
}

/**
 * Decides about one rollout, from values alone.
 *
 * ```text
 * spec is invalid                    -> nothing; the status says why
 * ConfigMap cannot be used           -> nodes in flight continue, or go back; no further node is touched
 * copy of the ConfigMap is missing   -> create it
 * stopped by failures, or aborted    -> roll nodes back (back.ts)
 * else                               -> the next nodes of the step, within budgets, windows and gates (forward.ts)
 * ```
 *
 * @returns undefined: requeue at once, there are more nodes to place
 */
export function plan(facts: Facts): Plan | undefined {
  const { rules } = facts;
  if (rules.problems.length > 0)
    return finish(facts, { waitsFor: 'Spec', phase: 'Pending', reason: 'Invalid', text: rules.problems.join('; ') });
  const begun = begin(facts);
  if (!('progress' in begun)) return finishIdle(facts, withoutConfigMap(begun.missing));
  const { progress, actions, missing } = begun;
  const aborted = rules.abortedRevision === progress.revision;
  const stopped = aborted ? 'Aborted' : progress.stopped;
  // Nodes are assigned only a copy that exists: the cache shows when it does.
  const isThere = facts.revisions.some(({ metadata }) => metadata.name === progress.revision);
  if (!isThere && facts.isTaken?.(progress.revision) === true)
    return finishIdle(facts, { ...nameTaken(rules.configMap.namespace, progress.revision), progress });
  if (!isThere) {
    const creating: Decision = { waitsFor: 'Revision', phase: 'Pending', reason: 'RevisionCreated', text: 'the copy of the ConfigMap is being created', progress, actions }; // prettier-ignore
    const isRefused = actions.some((action) => facts.unwritten?.has(objectOf(action)) === true);
    return isRefused ? finishIdle(facts, creating) : finish(facts, creating);
  }
  // As if paused: no further node is touched.
  const going = missing === undefined ? facts : { ...facts, rules: { ...rules, paused: true } };
  const decision = stopped === undefined ? planForward(going, progress) : planBack(facts, { ...progress, stopped, complete: false });
  if (decision === undefined) return undefined;
  const isStopped = decision.progress?.stopped !== undefined;
  const says = missing === undefined ? {} : isStopped ? { text: `${decision.text}; ${missing}` } : withoutConfigMap(missing);
  return finish(facts, { ...decision, ...says, actions: [...actions, ...(decision.actions ?? [])] });
}

const withoutConfigMap = (missing: string): Decision => ({ waitsFor: 'ConfigMap', phase: 'Pending', reason: 'ConfigMapNotFound', text: missing }); // prettier-ignore

/** The ConfigMap may hold anything, and nodes may use it: only a user can decide whether to delete it. */
function nameTaken(namespace: string, name: string): Decision {
  const text = `ConfigMap ${namespace}/${name} exists and was not created by this rollout, so it is not overwritten. If nothing needs it, delete it: kubectl -n ${namespace} delete configmap ${name}`;
  return { waitsFor: 'Revision', phase: 'Pending', reason: 'RevisionNameTaken', text };
}

/**
 * There is no copy to continue with, perhaps for long: nodes that were drained for one, or announced as next, are given back.
 * @returns undefined: there are more nodes to place
 */
function finishIdle(facts: Facts, decision: Decision): Plan | undefined {
  const { revision = '', previousRevision, attemptAt } = facts.rules.status;
  const groups = facts.fleet.groups(placeForward, placementContext(facts, { revision, previousRevision, attemptAt }));
  if (groups === undefined) return undefined;
  const idle = [...groups.of('maintained'), ...groups.of('planned')].map(({ node }): Action => ({ do: 'give-back', node }));
  return finish(facts, { ...decision, actions: [...(decision.actions ?? []), ...idle], wakeUps: deadlinesOf(groups, facts.now) });
}

function finish(facts: Facts, decided: Decision): Plan {
  const history = decided.progress === undefined ? [] : planHistory(facts, decided.progress);
  const actions = [...(decided.actions ?? []), ...history];
  const decision = { ...decided, text: `${decided.text}${whyUnwritten(facts, actions)}` };
  const waitsForPlace = decision.waitsForPlace === true;
  const touches = touchesOf(facts, actions);
  const status = { ...statusOf(facts, decision), ...(touches === undefined ? {} : { touches }) };
  return {
    actions,
    status,
    events: eventsOf(facts, decision, status),
    wakeUps: [...(decision.wakeUps ?? []), ...pendingWakeUps(facts), ...(waitsForPlace ? [placeWakeUp] : [])],
    needsGates: decision.needsGates === true,
    waitsForPlace,
    record: recordFor(facts, actions),
  };
}

/** Why the last reconcile could not write what is planned again. */
function whyUnwritten({ unwritten }: Facts, actions: readonly Action[]): string {
  if (unwritten === undefined || unwritten.size === 0) return '';
  const why = actions.flatMap((action) => unwritten.get(objectOf(action)) ?? []);
  return why.length === 0 ? '' : `; ${why[0]}${why.length === 1 ? '' : ` (and ${why.length - 1} more)`}`;
}

interface RolloutEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** Reasons that are routine in a rollout; each Node that is assigned gets an event anyway. */
const QUIET = new Set(['NodesAssigned', 'NodesInFlight', 'MaxUnavailable', 'RevisionCreated']);
const WARNINGS = new Set([
  'FailureBudget',
  'LateFailures',
  'PreflightFailed',
  'RollbackFailed',
  'NoPreviousRevision',
  'ConfigMapNotFound',
  'RevisionNameTaken',
  'Invalid',
]);

/** One event for each decision that the last status does not show yet. Pure. */
function eventsOf({ rules }: Facts, { reason, text, actions = [], progress }: Decision, status: RolloutStatus): RolloutEvent[] {
  const prior = rules.status;
  const events: RolloutEvent[] = [];
  const say = (name: string, message: string, type: RolloutEvent['type'] = 'Normal'): void =>
    void events.push({ type, reason: name, message });
  for (const action of actions)
    if (action.do === 'create-revision') say('RevisionCreated', `creating ConfigMap ${action.revision.metadata.name}`);
  if (progress !== undefined && prior.revision !== undefined && progress.revision !== prior.revision)
    say('RevisionChanged', `rolling out ${progress.revision} in place of ${prior.revision}`);
  const known = new Set(prior.failures?.map(({ node }) => node));
  for (const { node, error } of status.failures ?? []) if (!known.has(node)) say('NodeFailed', `node ${node}: ${error}`, 'Warning');
  const isSame = prior.revision === status.revision;
  const steps = stepsFor(rules, status.nodes?.selected ?? 0);
  if (status.step !== undefined && (!isSame || prior.step !== status.step) && status.stopped === undefined)
    say('StepStarted', `step ${status.step} of ${steps.length}: ${countText(steps[status.step - 1]?.nodes)}`);
  const isNews = prior.phase !== status.phase || prior.waitsFor !== status.waitsFor || !isSame;
  if (reason === CLUSTER_WAIT) {
    // A rollout with nodes in flight waits for a place after each of them. The event is for one that only nodes of others keep waiting.
    const isKept = (of: RolloutStatus | undefined): boolean => of?.waitsFor === CLUSTER_WAIT && of.nodes?.inFlight === 0;
    if (isKept(status) && !isKept(prior)) say(reason, text);
  } else if (isNews && !QUIET.has(reason)) say(reason, text, WARNINGS.has(reason) ? 'Warning' : 'Normal');
  return events;
}

const countText = (count: Count | undefined): string => (typeof count === 'number' ? nodesText(count) : `${count} nodes`);
