import type { Action } from './actions.ts';
import { deadlinesOf, failuresOf, isDown, placedOn } from './count.ts';
import type { Decision } from './decision.ts';
import { specOf, type Facts, type Placed } from './facts.ts';
import { sameSpec } from '../fleet/fleet-node.ts';
import { isWorkedOn, planTouch } from './maintenance.ts';
import type { RolloutNode } from './node.ts';
import type { Progress } from './progress.ts';
import { maxUnavailableOf } from './rules.ts';
import { namesOf, nodesText } from './text.ts';

/**
 * Takes nodes that have a stopped revision back to the one before, or to their local configuration. Windows, gates and holds do not apply: what runs now
 * is worse. Pure.
 */
export function planBack(facts: Facts, progress: Stopped): Decision {
  const { rules, nodes } = facts;
  const decision = decide(facts, progress);
  // A node that is on the way keeps what is on it until it has arrived; a drain for what is not rolled out any more ends.
  const stopped = specOf(rules, progress.revision);
  const underWay = new Set(decision.underWay);
  const isDone = (node: RolloutNode): boolean =>
    !underWay.has(node.node) && isWorkedOn(node, rules) && !(sameSpec(node.wanted, stopped) && decision.phase === 'RollingBack');
  const givenBack = nodes.filter(isDone).map((node): Action => ({ do: 'give-back', node }));
  return { ...decision, actions: [...(decision.actions ?? []), ...givenBack] };
}

type Stopped = Progress & { stopped: 'Failures' | 'Aborted' };

function decide(facts: Facts, progress: Stopped): Decision & { underWay?: readonly string[] } {
  const { rules, nodes, now } = facts;
  const stopped = specOf(rules, progress.revision);
  const forward = placedOn(nodes, stopped, facts);
  const failures = failuresOf(progress.failures, forward, now);
  const base: Pick<Decision, 'progress' | 'placed'> = { progress: { ...progress, failures }, placed: forward };
  const why =
    progress.stopped === 'Aborted'
      ? 'the rollout was aborted'
      : `${nodesText(failures.length)} failed: ${namesOf(failures.map(({ node }) => node))}`;
  const onTheirWay = (placed: Placed[]): string[] =>
    placed.filter(({ standing }) => standing.at === 'in-flight').map(({ node }) => node.node);
  if (progress.stopped === 'Failures' && rules.onFailure === 'Pause')
    return {
      ...base,
      underWay: onTheirWay(forward),
      phase: 'Paused',
      reason: 'FailureBudget',
      waitsFor: 'Failures',
      text: `${why}; dkc rollout resume or undo`,
    };
  if (progress.previousRevision === progress.revision)
    return { ...base, phase: 'Failed', reason: 'NoPreviousRevision', text: `${why}; there is no revision to go back to` };
  const back = specOf(rules, progress.previousRevision);
  const left = nodes.filter(({ wanted }) => sameSpec(wanted, stopped));
  const ours = nodes.filter((node) => node.rollout === rules.name && sameSpec(node.wanted, back));
  const returning = placedOn(ours, back, facts);
  // One that proved the configuration before and is not Ready for another reason has arrived.
  const inFlight = returning.filter(({ standing }) => standing.at === 'in-flight' && standing.failsAt !== Infinity);
  const to = progress.previousRevision ?? 'local';
  const underWay = onTheirWay(returning);
  const wakeUps = deadlinesOf(inFlight, now);
  const names = { back: new Set(inFlight.map(({ node }) => node.node)), forward: new Set(onTheirWay(forward)) };
  const chosen = nextBack(left, nodes, names, maxUnavailableOf(rules, nodes.length));
  if (chosen.length > 0) {
    const actions = chosen.map((node) => touch(facts, node, progress.previousRevision));
    return {
      ...base,
      underWay,
      phase: 'RollingBack',
      reason: 'RollingBack',
      text: `${why}; takes ${namesOf(chosen.map(({ node }) => node))} back to ${to}`,
      actions,
      wakeUps,
    };
  }
  if (left.length > 0 || inFlight.length > 0)
    return {
      ...base,
      underWay,
      phase: 'RollingBack',
      reason: 'RollingBack',
      text: `${why}; ${nodesText(left.length + inFlight.length)} on the way back to ${to}`,
      wakeUps,
    };
  const stuck = returning.filter(({ standing }) => standing.at === 'failed');
  if (stuck.length > 0)
    return {
      ...base,
      phase: 'Failed',
      reason: 'RollbackFailed',
      text: `${why}; not taken back to ${to}: ${namesOf(stuck.map(({ node }) => node.node))}`,
    };
  return { ...base, phase: 'RolledBack', reason: 'RolledBack', text: `${why}; all nodes are back at ${to}` };
}

/** A node that undid the revision itself uses what it goes back to: nothing of it needs a drain. */
const touch = (facts: Facts, node: RolloutNode, revision: string | undefined): Action =>
  node.error === null ? planTouch(facts, node, revision, { isBack: true }) : { do: 'assign', node, revision };

/**
 * Nodes that undid the revision themselves, are still on the way to it, or cannot run pods now, are unavailable already: all of them. Others as many as
 * may be unavailable beside those that are.
 */
function nextBack(
  left: readonly RolloutNode[],
  nodes: readonly RolloutNode[],
  inFlight: { back: ReadonlySet<string>; forward: ReadonlySet<string> },
  most: number,
): RolloutNode[] {
  const isFree = (node: RolloutNode): boolean => node.error !== null || isDown(node) || inFlight.forward.has(node.node);
  const free = left.filter(isFree);
  const taken = new Set([...inFlight.back, ...[...nodes.filter(isDown), ...free].map(({ node }) => node)]);
  // One at a time goes back even where nodes that are down for other reasons leave no room.
  const room = Math.max(inFlight.back.size + free.length === 0 ? 1 : 0, most - taken.size);
  return [...free, ...left.filter((node) => !isFree(node)).slice(0, room)];
}
