import type { Action, Decision, Facts } from './contract.ts';
import { CLUSTER_WAIT, type ClusterFacts, placesFor, placesOf, remainingRecords } from './cluster/budget.ts';
import { deadlinesOf, failuresOf, type Groups, nodeName } from './grouping.ts';
import { planTouch } from './maintenance.ts';
import type { RolloutNode, RolloutState } from './node.ts';
import { placementContext, placeBack, type Placement } from './grouping-rules.ts';
import type { Progress } from './progress.ts';
import { maxUnavailableOf } from './rules.ts';
import { namesIn, nodesText } from './text.ts';
import { MAX_TOUCHES } from './touches.ts';

/**
 * Rolls nodes that have a stopped revision, or an incomplete one that it superseded, back to the last complete revision, or to their local configuration.
 * Windows, gates and holds do not apply: the configuration that runs now is worse. Pure.
 * @returns undefined: there are more nodes to place
 */
export function planBack(facts: Facts, progress: Stopped): Decision | undefined {
  const context = placementContext(facts, progress);
  const groups = facts.fleet.groups(placeBack, context);
  if (groups === undefined) return undefined;
  const { continuingState, ...decision } = decide(facts, progress, groups);
  // A node in flight keeps its cordon and conditions until it has arrived; a drain for a revision that is no longer rolled out ends.
  const isBehind = ({ groups: of }: Placement): boolean => of.includes('free') || of.includes('begun') || of.includes('others');
  const isDone = (placement: Placement): boolean =>
    continuingState?.(placement)?.at !== 'in-flight' && !(isBehind(placement) && decision.phase === 'RollingBack');
  const givenBack = groups.of('worked-on').filter(isDone);
  const restarted =
    continuingState === undefined ? [] : groups.of('misdated').map(({ node }): Action => ({ do: 'restart-deadline', node }));
  return { ...decision, actions: [...(decision.actions ?? []), ...restarted, ...givenBack.map(({ node }): Action => ({ do: 'give-back', node }))] }; // prettier-ignore
}

type Stopped = Progress & { stopped: 'Failures' | 'Aborted' };

/** @member continuingState - the state of a node in the direction in which nodes continue; absent: no node continues */
type Back = Decision & { continuingState?: (placement: Placement) => RolloutState | undefined };

function decide(facts: Facts, progress: Stopped, groups: Groups): Back {
  const { rules, fleet, now } = facts;
  const failures = failuresOf(progress.failures, groups, now);
  const base: Pick<Decision, 'progress' | 'groups'> = { progress: { ...progress, failures }, groups };
  const why =
    progress.stopped === 'Aborted'
      ? 'the rollout was aborted'
      : `${nodesText(failures.length)} failed: ${namesIn(failures, ({ node }) => node)}`;
  if (progress.stopped === 'Failures' && rules.onFailure === 'Pause')
    return {
      ...base,
      continuingState: ({ state }) => state,
      phase: 'Paused',
      reason: 'FailureBudget',
      waitsFor: 'Failures',
      text: `${why}; to continue: dkc rollout resume ${rules.name} --retry, or dkc rollout undo ${rules.name}`,
    };
  if (progress.previousRevision === progress.revision)
    return { ...base, phase: 'Failed', reason: 'NoPreviousRevision', text: `${why}; there is no earlier revision to roll back to` };
  const to = progress.previousRevision ?? 'local';
  const rollingBack = {
    ...base,
    continuingState: ({ returning }) => returning,
    phase: 'RollingBack',
    reason: 'RollingBack',
    wakeUps: deadlinesOf(groups, now),
  } as const satisfies Partial<Back>;
  const { chosen, waitsForPlace } = nextBack(groups, maxUnavailableOf(rules, fleet.size), facts.cluster);
  if (chosen.length > 0) {
    const actions = chosen.map(({ node }) => touch(facts, node, progress.previousRevision));
    return { ...rollingBack, text: `${why}; rolling back ${namesIn(chosen, nodeName)} to ${to}`, actions, waitsForPlace };
  }
  const onTheWay = groups.of('others').length + groups.of('begun').length + groups.of('returning').length;
  const waits = waitsForPlace ? { waitsForPlace, waitsFor: CLUSTER_WAIT } : {};
  if (onTheWay > 0) return { ...rollingBack, ...waits, text: `${why}; ${nodesText(onTheWay)} rolling back to ${to}` };
  const stuck = groups.of('stuck');
  if (stuck.length > 0)
    return {
      ...base,
      phase: 'Failed',
      reason: 'RollbackFailed',
      text: `${why}; could not roll back to ${to}: ${namesIn(stuck, nodeName)}`,
    };
  return { ...base, phase: 'RolledBack', reason: 'RolledBack', text: `${why}; all nodes rolled back to ${to}` };
}

/** A node that undid the revision itself already runs the configuration that it goes back to: no drain is needed. */
const touch = (facts: Facts, node: RolloutNode, revision: string | undefined): Action =>
  node.error === null ? planTouch(facts, node, revision, { isBack: true }) : { do: 'assign', node, revision };

/**
 * All nodes that are unavailable already, since they take no place. Of the others, as many as may become unavailable in addition, within the budgets of this
 * rollout and of the whole cluster.
 */
function nextBack(
  groups: Groups,
  most: number,
  cluster: ClusterFacts | undefined,
): { chosen: readonly Placement[]; waitsForPlace: boolean } {
  const [free, begun] = [groups.of('free'), groups.of('begun')];
  const budget = most - groups.of('taken').length;
  // One node at a time goes back even when nodes that are down for other reasons use up a budget: otherwise the bad revision would stay.
  const isAlone = groups.of('returning').length + groups.of('drained').length + free.length === 0;
  const [pending] = groups.of('pending');
  const first = pending === undefined ? groups.of('others')[0] : groups.of('pending').length === 1 ? begun[0] : undefined;
  const one = isAlone && first !== undefined ? [first] : [];
  const next = budget < 0 ? one : [...begun, ...(budget > 0 ? groups.of('others').slice(0, budget) : begun.length === 0 ? one : [])];
  const hasPlace = placesFor(cluster, placesOf(cluster, { isBack: true }));
  const within = [...free, ...next].filter(({ node }) => hasPlace(node.node));
  const chosen = within.length > 0 ? within : one;
  const left = Math.max(remainingRecords(cluster), chosen === one ? 1 : 0);
  return { chosen: chosen.slice(0, Math.min(MAX_TOUCHES, left)), waitsForPlace: within.length < free.length + next.length };
}
