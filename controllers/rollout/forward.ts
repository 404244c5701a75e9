import { rfc3339, type Millis } from '../../base/clock.ts';
import type { Action } from './actions.ts';
import { deadlinesOf, failuresOf, isDown, placedWithDrains, unavailableOf } from './count.ts';
import type { Decision } from './decision.ts';
import { specOf, type Facts, type Placed } from './facts.ts';
import type { RolloutNode } from './node.ts';
import { isDrainedBy, isWorkedOn, planTouch } from './maintenance.ts';
import { inOrder } from './order.ts';
import type { Progress } from './progress.ts';
import { failureBudgetOf, maxUnavailableOf, targetOf } from './rules.ts';
import { bounded, namesOf, nodesText } from './text.ts';
import type { WakeUp } from '../common/reconcile.ts';

/** How often gates are asked while something waits for them, in ms. */
const ASK_AGAIN_MS: Millis = 30_000;

/** Takes the revision to more nodes, as far as steps, budgets, windows and gates allow. Pure. */
export function planForward(facts: Facts, progress: Progress): Decision {
  const { rules, nodes, now } = facts;
  const target = specOf(rules, progress.revision);
  const placed = placedWithDrains(inOrder(nodes, rules.uid), target, facts);
  const refused = refusedBy(facts, progress, placed);
  const failures = failuresOf(progress.failures, placed, now);
  const seen: Seen = {
    facts,
    placed,
    refused,
    failures,
    touched: placed.filter(({ standing }) => ['in-flight', 'settled', 'failed'].includes(standing.at)),
    inFlight: placed.filter(({ standing }) => standing.at === 'in-flight'),
    candidates: candidatesOf(placed, [...refused, ...failures]),
    unavailable: unavailableOf(placed),
  };
  const settled = { ...progress, failures: seen.failures };
  // Failed nodes count as unavailable: where they are as many as may be, nothing would go on either.
  const budget = Math.min(failureBudgetOf(rules, seen.touched.length), maxUnavailableOf(rules, nodes.length));
  // What all nodes have had is not taken back because one of them, or a late joiner, fails afterwards: that one is named, and no further one is touched.
  if (seen.failures.length >= budget) return progress.complete ? withMaintenance(seen, lateFailures(seen, settled)) : stop(seen, settled);
  if (refused.length > 0 && seen.touched.length === 0 && !rules.skipInvalidNodes) return preflightFails(seen, settled);
  if (nodes.length === 0)
    return { ...base(seen, settled), phase: 'Pending', reason: 'NoNodes', text: 'no node is selected', waitsFor: 'Nodes' };
  return withMaintenance(seen, withJoiners(seen, walk(seen, settled)));
}

interface Seen {
  facts: Facts;
  /** In the order in which they are touched. */
  placed: readonly Placed[];
  refused: readonly { node: string; why: string }[];
  touched: readonly Placed[];
  inFlight: readonly Placed[];
  failures: Progress['failures'];
  /** Can be touched: they have an agent, are Ready, have not failed, and their kubelet would take it. */
  candidates: readonly RolloutNode[];
  /** Names. */
  unavailable: ReadonlySet<string>;
}

type Partial = Pick<Decision, 'progress' | 'placed' | 'refused' | 'wakeUps'>;

const base = ({ placed, refused, inFlight, facts }: Seen, progress: Progress): Partial => ({
  progress,
  placed,
  refused,
  wakeUps: deadlinesOf(inFlight, facts.now),
});

/** Nodes whose kubelet would reject the revision. Those that have it already tell for themselves. */
function refusedBy({ rules, revisions, configs }: Facts, { revision }: Progress, placed: readonly Placed[]): Seen['refused'] {
  const copy = revisions.find(({ metadata }) => metadata.name === revision);
  if (copy === undefined) return [];
  return placed.flatMap(({ node, standing }) => {
    if (standing.at !== 'waiting' && standing.at !== 'no-agent') return [];
    if (node.kubeletVersion === '') return [];
    const why = configs.rejects(copy, rules.configMap.kubeletConfigKey, node.kubeletVersion);
    return why.length === 0 ? [] : [{ node: node.node, why: bounded(`kubelet ${node.kubeletVersion}: ${why.join('; ')}`, 300) }];
  });
}

function stop(seen: Seen, progress: Progress): Decision {
  const { rules } = seen.facts;
  const names = namesOf(progress.failures.map(({ node }) => node));
  const failed = `${nodesText(progress.failures.length)} failed: ${names}`;
  const isBack = rules.onFailure === 'Rollback';
  return {
    ...base(seen, { ...progress, stopped: 'Failures', complete: false }),
    phase: isBack ? 'RollingBack' : 'Paused',
    reason: 'FailureBudget',
    text: isBack ? `${failed}; nodes are taken back` : `${failed}; no further node is touched`,
    waitsFor: isBack ? undefined : 'Failures',
    // What comes next is planned from the status that says so.
    wakeUps: [{ requeueAfter: 0, why: 'the rollout has stopped' }],
  };
}

function lateFailures(seen: Seen, progress: Progress): Decision {
  const text = `${nodesText(progress.failures.length)} failed since it was complete: ${namesOf(progress.failures.map(({ node }) => node))}; nodes that come later are not touched`;
  return { ...base(seen, progress), phase: 'Complete', reason: 'LateFailures', waitsFor: 'Failures', text };
}

function preflightFails(seen: Seen, progress: Progress): Decision {
  const [first] = seen.refused;
  const text = `${nodesText(seen.refused.length)} would reject it, and none is touched: ${namesOf(seen.refused.map(({ node }) => node))}; ${first?.why}`;
  return { ...base(seen, progress), phase: 'Pending', reason: 'PreflightFailed', text, waitsFor: 'Preflight' };
}

/** From step to step, until there is something to do or to wait for. */
function walk(seen: Seen, from: Progress): Decision {
  const { rules, now, nodes } = seen.facts;
  const { candidates } = seen;
  let progress = from;
  if (candidates.length === 0 && seen.touched.length === 0 && !progress.complete) return noneReady(seen, progress);
  for (;;) {
    const step = rules.steps[progress.step - 1];
    const isLast = progress.step >= rules.steps.length;
    const target = step === undefined || progress.complete ? nodes.length : targetOf(step, nodes.length);
    const missing = Math.max(0, target - seen.touched.length);
    if (missing > 0 && candidates.length > 0) return take(seen, progress, candidates.slice(0, missing));
    if (seen.inFlight.length > 0) return waitForNodes(seen, progress);
    if (isLast || step === undefined) return complete(seen, progress);
    const since = progress.stepSettledAt ?? rfc3339(now);
    const settled = { ...progress, stepSettledAt: since };
    const wait = waitsAfter(seen, settled, step, since);
    if (wait !== undefined) return wait;
    progress = { ...settled, step: settled.step + 1, stepSettledAt: undefined };
  }
}

/** Without a canary no step is done: agents that have yet to start must not find a rollout that is complete. */
function noneReady(seen: Seen, progress: Progress): Decision {
  const text = `none of ${nodesText(seen.placed.length)} can be touched: they are not Ready, have no agent, or their kubelet would reject it`;
  return { ...base(seen, progress), phase: 'Pending', reason: 'NoNodes', waitsFor: 'Nodes', text };
}

function candidatesOf(placed: readonly Placed[], excluded: readonly { node: string }[]): RolloutNode[] {
  const no = new Set(excluded.map(({ node }) => node));
  return placed
    .filter(({ node, standing }) => standing.at === 'waiting' && !no.has(node.node) && node.ready === true)
    .map(({ node }) => node);
}

/** Drains that are under way go on, what is drained is assigned, and nodes that have arrived are given back: neither windows nor gates keep that waiting. */
function withMaintenance({ facts, placed }: Seen, decision: Decision): Decision {
  const { rules, drains } = facts;
  const { progress, actions = [] } = decision;
  if (progress === undefined) return decision;
  const more = placed.flatMap(({ node, standing }): Action[] => {
    if (standing.at === 'in-flight') {
      const isDraining = drains.has(node.node) || isDrainedBy(node, rules);
      return isDraining && node.wanted?.name !== progress.revision ? [planTouch(facts, node, progress.revision)] : [];
    }
    if (standing.at === 'settled' || standing.at === 'failed') return isWorkedOn(node, rules) ? [{ do: 'give-back', node }] : [];
    return [];
  });
  return { ...decision, actions: [...actions, ...more] };
}

/** What keeps nodes from being touched at this moment, whichever they are. */
function heldBy(seen: Seen, progress: Progress): Decision | undefined {
  const { rules, window, gates, now } = seen.facts;
  const say = (phase: Decision['phase'], waitsFor: string, text: string, more: Partial & Pick<Decision, 'asksGates'> = {}): Decision => {
    const rest = base(seen, progress);
    return { ...rest, ...more, phase, reason: waitsFor, waitsFor, text, wakeUps: [...(rest.wakeUps ?? []), ...(more.wakeUps ?? [])] };
  };
  if (rules.paused) return say('Paused', 'Resume', 'spec.paused is true; dkc rollout resume');
  if (!window.open) {
    const from = window.next?.from;
    const wakeUps = from === undefined ? [] : [{ requeueAfter: from - now, why: 'a window opens' }];
    return say(
      seen.touched.length === 0 ? 'Pending' : 'Holding',
      'Window',
      from === undefined ? 'no window opens' : `the next window opens at ${rfc3339(from)}`,
      { wakeUps },
    );
  }
  if (rules.gates.length === 0) return undefined;
  const why = whyGatesHold(gates);
  return why === undefined ? undefined : say('Holding', 'Gates', why, { wakeUps: [askAgain], asksGates: gates === undefined });
}

const askAgain: WakeUp = { requeueAfter: ASK_AGAIN_MS, why: 'gates are asked again' };

/** undefined: every gate lets the rollout go on. */
function whyGatesHold(gates: Facts['gates']): string | undefined {
  if (gates === undefined) return 'gates are asked';
  const failing = gates.filter(({ ok }) => !ok);
  return failing.length === 0 ? undefined : bounded(failing.map((gate) => `${gate.name}: ${gate.why}`).join('; '), 500);
}

/** Touches the next nodes, as many as may be unavailable beside those that are. */
function take(seen: Seen, progress: Progress, next: readonly RolloutNode[]): Decision {
  const { rules, nodes } = seen.facts;
  const held = heldBy(seen, progress);
  // A rollout that was complete stays so: a node that comes late waits for the window and the gates as well.
  if (held !== undefined) return progress.complete ? { ...held, phase: 'Complete' } : held;
  const { unavailable } = seen;
  const room = maxUnavailableOf(rules, nodes.length) - unavailable.size;
  const inDomain = rules.spreadBy === undefined ? next : sameDomain(seen, next, rules.spreadBy);
  const chosen: RolloutNode[] = [];
  let left = room;
  for (const node of inDomain) {
    // One that is cordoned is unavailable already, and takes nobody's place.
    const costs = unavailable.has(node.node) ? 0 : 1;
    if (left < costs || room < 0) continue;
    left -= costs;
    chosen.push(node);
  }
  const rest = base(seen, { ...progress, stepSettledAt: undefined });
  const phase = progress.complete ? 'Complete' : 'Progressing';
  if (chosen.length === 0) {
    const text = room <= 0 ? `${nodesText(unavailable.size)} unavailable, as many as may be` : 'other nodes of its domain come first';
    return { ...rest, phase, reason: 'MaxUnavailable', waitsFor: room <= 0 ? 'MaxUnavailable' : 'Domain', text };
  }
  const actions = chosen.map((node) => planTouch(seen.facts, node, progress.revision));
  return { ...rest, phase, reason: 'NodesAssigned', text: `assigns it to ${namesOf(chosen.map(({ node }) => node))}`, actions };
}

/** Of `next`, those with one value of the label: the value of nodes in flight, else that of the first. */
function sameDomain({ inFlight }: Seen, next: readonly RolloutNode[], label: string): RolloutNode[] {
  const domain = inFlight.length > 0 ? inFlight[0]?.node.labels[label] : next[0]?.labels[label];
  return next.filter(({ labels }) => labels[label] === domain);
}

function waitForNodes(seen: Seen, progress: Progress): Decision {
  const [first] = seen.inFlight;
  const why = first?.standing.at === 'in-flight' ? `; ${first.node.node}: ${first.standing.why}` : '';
  const text = `${nodesText(seen.inFlight.length)} in flight${why}`;
  const phase = progress.complete ? 'Complete' : 'Progressing';
  return { ...base(seen, { ...progress, stepSettledAt: undefined }), phase, reason: 'NodesInFlight', text };
}

/** A node that joined meanwhile gets the last complete revision, as all others have it, until its turn comes. */
function withJoiners(seen: Seen, decision: Decision): Decision {
  const { progress, actions = [] } = decision;
  const { rules, nodes } = seen.facts;
  const previous = progress?.previousRevision;
  if (progress === undefined || previous === undefined || progress.complete) return decision;
  const chosen = new Set(actions.flatMap((action) => ('node' in action ? [action.node.node] : [])));
  const joiners = seen.candidates.filter(({ node, wanted }) => wanted === null && !chosen.has(node));
  if (joiners.length === 0 || heldBy(seen, progress) !== undefined) return decision;
  const room = maxUnavailableOf(rules, nodes.length) - seen.unavailable.size - chosen.size;
  const more = joiners.slice(0, Math.max(0, room)).map((node): Action => ({ do: 'assign', node, revision: previous }));
  return more.length === 0 ? decision : { ...decision, actions: [...actions, ...more] };
}

/** What a step that is done waits for before the next one begins. */
function waitsAfter(seen: Seen, progress: Progress, step: { holdMs: Millis; approve: boolean }, since: string): Decision | undefined {
  const { rules, now, gates } = seen.facts;
  const rest = base(seen, progress);
  const { wakeUps = [] } = rest;
  const end = Math.min(Date.parse(since), now) + step.holdMs;
  const why = now < end && rules.gates.length > 0 ? whyGatesHold(gates) : undefined;
  if (why !== undefined) {
    const held = { ...rest, phase: 'Holding', reason: 'Gates', waitsFor: 'Gates', text: why } as const;
    if (gates === undefined) return { ...held, asksGates: true };
    // A hold is a time in which all gates hold: it begins again.
    return { ...held, progress: { ...progress, stepSettledAt: rfc3339(now) }, wakeUps: [...wakeUps, askAgain] };
  }
  if (now < end) {
    const requeueAfter = rules.gates.length > 0 ? Math.min(end - now, ASK_AGAIN_MS) : end - now;
    return { ...rest, phase: 'Holding', reason: 'Hold', waitsFor: 'Hold', text: `step ${progress.step} is done; the next begins at ${rfc3339(end)}`, wakeUps: [...wakeUps, { requeueAfter, why: 'a hold' }] }; // prettier-ignore
  }
  const isApproved = progress.approvals.some(({ step: of, revision }) => of === progress.step && revision === progress.revision);
  if (step.approve && !isApproved)
    return { ...rest, phase: 'Holding', reason: 'Approval', waitsFor: 'Approval', text: `step ${progress.step} is done and the next one waits for approval; dkc rollout approve ${rules.name}` }; // prettier-ignore
  return undefined;
}

function complete(seen: Seen, progress: Progress): Decision {
  const { nodes } = seen.facts;
  const left = seen.placed.filter(({ standing }) => standing.at === 'waiting' || standing.at === 'no-agent').map(({ node }) => node);
  const down = left.filter((node) => isDown(node)).length;
  const text =
    left.length === 0
      ? `all ${nodesText(nodes.length)} have it`
      : `${nodes.length - left.length} of ${nodesText(nodes.length)} have it; not ${namesOf(left.map(({ node }) => node))} (${down} not Ready, the others without an agent or with a kubelet that would reject it)`;
  return { ...base(seen, { ...progress, complete: true, stepSettledAt: undefined }), phase: 'Complete', reason: 'Complete', text };
}
