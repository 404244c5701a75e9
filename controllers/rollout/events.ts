import { CLUSTER_WAIT } from './cluster/contract.ts';
import type { Decision } from './decision.ts';
import type { Facts } from './facts.ts';
import type { RolloutStatus } from './types.ts';

export interface RolloutEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** What goes on all the time in a rollout; the Node that is assigned has its event. */
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

/** What the plan decides that the last status did not say yet: an event each. Pure. */
export function eventsOf({ rules }: Facts, { reason, text, actions = [], progress }: Decision, status: RolloutStatus): RolloutEvent[] {
  const prior = rules.rollout.status;
  const events: RolloutEvent[] = [];
  const say = (name: string, message: string, type: RolloutEvent['type'] = 'Normal'): void =>
    void events.push({ type, reason: name, message });
  for (const action of actions)
    if (action.do === 'create-revision') say('RevisionCreated', `creating ConfigMap ${action.revision.metadata.name}`);
  if (progress !== undefined && prior?.revision !== undefined && progress.revision !== prior.revision)
    say('RevisionChanged', `rolling out ${progress.revision} in place of ${prior.revision}`);
  const known = new Set(prior?.failures?.map(({ node }) => node));
  for (const { node, error } of status.failures ?? []) if (!known.has(node)) say('NodeFailed', `node ${node}: ${error}`, 'Warning');
  const isSame = prior?.revision === status.revision;
  if (status.step !== undefined && (!isSame || prior?.step !== status.step) && status.stopped === undefined)
    say('StepStarted', `step ${status.step} of ${rules.steps.length}: ${rules.steps[status.step - 1]?.nodes} nodes`);
  const isNews = prior?.phase !== status.phase || prior?.waitsFor !== status.waitsFor || !isSame;
  if (reason === CLUSTER_WAIT) {
    // While nodes of its own are under way it waits for a place after each: the event says that others keep it from going on.
    const isKept = (of: RolloutStatus | undefined): boolean => of?.waitsFor === CLUSTER_WAIT && of.nodes?.inFlight === 0;
    if (isKept(status) && !isKept(prior)) say(reason, text);
  } else if (isNews && !QUIET.has(reason)) say(reason, text, WARNINGS.has(reason) ? 'Warning' : 'Normal');
  return events;
}
