import { type Millis, rfc3339 } from '../../base/clock.ts';
import type { Action, Decision, Facts } from './contract.ts';
import { wasClockSet } from './clock-gaps.ts';
import { CLUSTER_WAIT, isFullOfFailures, placesFor, placesOf, remainingRecords, whyNoPlace } from './cluster/budget.ts';
import { deadlinesOf, failuresOf, failuresOfThose, type Groups, nodeName, failuresOnlyInStatus } from './grouping.ts';
import { planTouch } from './maintenance.ts';
import { placementContext, placeForward, type Placement } from './grouping-rules.ts';
import { isReturn, type Progress } from './progress.ts';
import { MAX_TOUCHES, withPlanned } from './touches.ts';
import { failureBudgetOf, maxUnavailableOf, stepsFor, targetOf } from './rules.ts';
import { bounded, namesIn, nodesText } from './text.ts';
import { MAX_FAILURES } from './types.ts';
import type { WakeUp } from '../common/reconcile.ts';

/** How often gates are checked while something waits for them, in ms. */
const GATES_RECHECK_MS: Millis = 30_000;

/** Rolls out the revision to more nodes, as far as steps, budgets, windows and gates allow; undefined: there are more nodes to place. Pure. */
export function planForward(facts: Facts, progress: Progress): Decision | undefined {
  const { rules, fleet, now } = facts;
  const groups = fleet.groups(placeForward, placementContext(facts, progress));
  if (groups === undefined) return undefined;
  const known = progress.complete ? failuresOfThose(progress.failures, groups, now) : progress.failures;
  const failures = failuresOf(known, groups, now);
  const touched = fleet.size - groups.of('left').length;
  const seen: Seen = { facts, groups, failures, touched, candidates: candidatesOf(groups, failures) };
  const settled = { ...progress, failures };
  // Failed nodes count as unavailable: once they use up maxUnavailable, the rollout could not continue either.
  const budget = Math.min(failureBudgetOf(rules, touched), maxUnavailableOf(rules, fleet.size));
  // A complete revision is not rolled back because a node, or a late joiner, fails afterwards: the status names that node, and no further one is touched.
  const isForgetful = failuresOnlyInStatus(failures, groups, progress.revision).length >= MAX_FAILURES;
  if (seen.failures.length >= budget || isForgetful)
    return progress.complete ? withPlanned(seen, withMaintenance(seen, lateFailures(seen, settled))) : stop(seen, settled);
  if (!progress.complete && isFullOfFailures(facts.cluster, failures)) return stop(seen, settled);
  if (groups.of('refused').length > 0 && touched === 0 && !rules.skipInvalidNodes) return withPlanned(seen, preflightFails(seen, settled));
  if (fleet.size === 0) return { ...base(seen, settled), phase: 'Pending', reason: 'NoNodes', text: whyNoNodes(facts), waitsFor: 'Nodes' };
  return withPlanned(seen, withMaintenance(seen, withJoiners(seen, walk(seen, settled))));
}

function whyNoNodes({ fleet: { conflicts } }: Facts): string {
  if (conflicts.count === 0) return 'spec.nodeSelector selects no nodes';
  return `older rollouts (${conflicts.holders}) also select ${nodesText(conflicts.count)}, which are left to them; no other node is selected`;
}

interface Seen {
  facts: Facts;
  groups: Groups;
  /** Nodes that are in flight, settled, or have failed. */
  touched: number;
  failures: Progress['failures'];
  /** Nodes that can be touched: with an agent, Ready, not failed, and with a kubelet that would accept the revision. In the order in which they are touched. */
  candidates: readonly Placement[];
}

/** What every decision about a revision has. */
type Base = Pick<Decision, 'progress' | 'groups' | 'wakeUps'>;

const base = ({ groups, facts }: Seen, progress: Progress): Base => ({ progress, groups, wakeUps: deadlinesOf(groups, facts.now) });

const failedNames = ({ failures }: Progress): string => namesIn(failures, ({ node }) => node);

function stop(seen: Seen, progress: Progress): Decision {
  const { rules } = seen.facts;
  const names = failedNames(progress);
  const failed = `${nodesText(progress.failures.length)} failed: ${names}`;
  const isBack = rules.onFailure === 'Rollback';
  return {
    ...base(seen, { ...progress, stopped: 'Failures', complete: false }),
    phase: isBack ? 'RollingBack' : 'Paused',
    reason: 'FailureBudget',
    text: isBack ? `${failed}; nodes are rolled back` : `${failed}; no further node is touched`,
    waitsFor: isBack ? undefined : 'Failures',
    // The next reconcile plans from the status with `stopped`.
    wakeUps: [{ requeueAfter: 0, why: 'the rollout has stopped' }],
  };
}

function lateFailures(seen: Seen, progress: Progress): Decision {
  const retry = `dkc rollout resume ${seen.facts.rules.name} --retry`;
  const text = `${nodesText(progress.failures.length)} failed after the rollout was complete: ${failedNames(progress)}; nodes that join later are not touched; to try again: ${retry}`;
  return { ...base(seen, progress), phase: 'Complete', reason: 'LateFailures', waitsFor: 'Failures', text };
}

function preflightFails(seen: Seen, progress: Progress): Decision {
  const refused = seen.groups.of('refused');
  const text = `${nodesText(refused.length)} would reject the configuration, so no node is touched: ${namesIn(refused, nodeName)}; ${refused[0]?.refusal}`;
  return { ...base(seen, progress), phase: 'Pending', reason: 'PreflightFailed', text, waitsFor: 'Preflight' };
}

/** Goes from step to step until there is something to do or to wait for. */
function walk(seen: Seen, from: Progress): Decision {
  const { rules, now, fleet, gaps } = seen.facts;
  const { candidates, touched, groups } = seen;
  const steps = stepsFor(rules, fleet.size);
  let progress = { ...from, step: isReturn(from) ? steps.length : Math.min(from.step, steps.length) };
  if (candidates.length === 0 && touched === 0 && !progress.complete) return noneReady(seen, progress);
  for (;;) {
    const step = steps[progress.step - 1];
    const isLast = progress.step >= steps.length;
    const target = step === undefined || progress.complete || isReturn(progress) ? fleet.size : targetOf(step, fleet.size);
    const missing = Math.max(0, target - touched);
    const next = [...groups.of('pending'), ...candidates.slice(0, missing)];
    if (next.length > 0) return touchNext(seen, progress, next);
    if (groups.of('in-flight').length > 0) return waitForNodes(seen, progress);
    if (isLast || step === undefined) return complete(seen, progress);
    // After the clock was set, the hold starts again: it would last too long or too short.
    const began = progress.stepSettledAt;
    const since = began === undefined || wasClockSet(Date.parse(began), now, gaps) ? rfc3339(now) : began;
    const settled = { ...progress, stepSettledAt: since };
    const wait = waitsAfter(seen, settled, step, since);
    if (wait !== undefined) return wait;
    progress = { ...settled, step: settled.step + 1, stepSettledAt: undefined };
  }
}

/** Without a canary no step counts as done: agents that start later must not find a complete rollout. */
function noneReady(seen: Seen, progress: Progress): Decision {
  const text = `none of ${nodesText(seen.facts.fleet.size)} can be touched now: each is not Ready, has no agent, or has a kubelet that would reject the configuration`;
  return { ...base(seen, progress), phase: 'Pending', reason: 'NoNodes', waitsFor: 'Nodes', text };
}

/**
 * A failed node is not touched again, whatever it is assigned now. Nodes that an earlier revision left not Ready come first: they use up the budget that the
 * others wait for. Degraded nodes come last: their outcome would say nothing about the revision.
 */
function candidatesOf(groups: Groups, failures: Seen['failures']): readonly Placement[] {
  const [stranded, degraded, inOrder] = [groups.of('stranded'), groups.of('degraded'), groups.of('candidates')];
  const isOther = ({ groups: of }: Placement): boolean => !of.includes('stranded') && !of.includes('degraded');
  const candidates = stranded.length + degraded.length === 0 ? inOrder : [...stranded, ...inOrder.filter(isOther), ...degraded];
  const failed = new Set(failures.map(({ node }) => groups.at(node)).filter((one) => one?.groups.includes('candidates') === true));
  return failed.size === 0 ? candidates : candidates.filter((one) => !failed.has(one));
}

/** Continues drains, assigns drained nodes, and gives back nodes that have arrived: windows and gates do not delay this. */
function withMaintenance({ facts, groups }: Seen, decision: Decision): Decision {
  const { progress, actions = [] } = decision;
  if (progress === undefined) return decision;
  const more = groups
    .of('maintained')
    .map(({ node, state }): Action => (state.at === 'in-flight' ? planTouch(facts, node, progress.revision) : { do: 'give-back', node }));
  const restarted = groups.of('misdated').map(({ node }): Action => ({ do: 'restart-deadline', node }));
  return { ...decision, actions: [...actions, ...more, ...restarted] };
}

/** What keeps every node from being touched now. */
function heldBy(seen: Seen, progress: Progress): Decision | undefined {
  const { rules, window, gates, now } = seen.facts;
  const say = (phase: Decision['phase'], waitsFor: string, text: string, more: Base & Pick<Decision, 'needsGates'> = {}): Decision => {
    const rest = base(seen, progress);
    return { ...rest, ...more, phase, reason: waitsFor, waitsFor, text, wakeUps: [...(rest.wakeUps ?? []), ...(more.wakeUps ?? [])] };
  };
  if (rules.paused) return say('Paused', 'Resume', pausedText(rules.name));
  if (!window.open) {
    const from = window.next?.from;
    const wakeUps = from === undefined ? [] : [{ requeueAfter: from - now, why: 'a window opens' }];
    return say(
      seen.touched === 0 ? 'Pending' : 'Holding',
      'Window',
      from === undefined ? 'spec.windows has no future window' : `the next window opens at ${rfc3339(from)}`,
      { wakeUps },
    );
  }
  if (rules.gates.length === 0) return undefined;
  const why = whyGatesBlock(gates);
  return why === undefined ? undefined : say('Holding', 'Gates', why, { wakeUps: [gatesWakeUp], needsGates: gates === undefined });
}

const pausedText = (rollout: string): string => `spec.paused is true; to continue: dkc rollout resume ${rollout}`;

/** Reports a paused rollout as paused, even when it has no node to touch now. */
const orPaused = ({ facts }: Seen, decision: Decision): Decision =>
  facts.rules.paused
    ? { ...decision, phase: 'Paused', reason: 'Resume', waitsFor: 'Resume', text: `${decision.text}; ${pausedText(facts.rules.name)}` }
    : decision;

const gatesWakeUp: WakeUp = { requeueAfter: GATES_RECHECK_MS, why: 'gates are checked again' };

/** undefined: every gate lets the rollout go on. */
function whyGatesBlock(gates: Facts['gates']): string | undefined {
  if (gates === undefined) return 'gates are being checked';
  const failing = gates.filter(({ ok }) => !ok);
  return failing.length === 0 ? undefined : bounded(failing.map((gate) => `${gate.name}: ${gate.why}`).join('; '), 500);
}

/** Touches the next nodes, as many as the budgets of this rollout and of the whole cluster still allow. */
function touchNext(seen: Seen, progress: Progress, next: readonly Placement[]): Decision {
  const { facts, groups } = seen;
  const { rules, fleet } = facts;
  const held = heldBy(seen, progress);
  // A complete rollout stays complete while a late joiner waits for the window and the gates.
  if (held !== undefined) return progress.complete && !rules.paused ? { ...held, phase: 'Complete' } : held;
  const unavailable = groups.of('unavailable');
  const budget = maxUnavailableOf(rules, fleet.size) - unavailable.length;
  const places = placesOf(facts.cluster);
  const chosen = budget < 0 ? [] : choose(seen, next, budget, places);
  const rest = base(seen, { ...progress, stepSettledAt: undefined });
  const phase = progress.complete ? 'Complete' : 'Progressing';
  if (chosen.length === 0 && budget > 0 && facts.cluster !== undefined && (places <= 0 || remainingRecords(facts.cluster) === 0))
    return { ...rest, phase, reason: CLUSTER_WAIT, waitsFor: CLUSTER_WAIT, text: whyNoPlace(facts.cluster), waitsForPlace: true };
  if (chosen.length === 0) {
    const text =
      budget <= 0
        ? `${nodesText(unavailable.length)} unavailable, the limit of spec.maxUnavailable${whyInFlight(heldOf(seen)) || whyElsewhere(seen)}`
        : 'nodes of another spec.spreadBy domain are in flight';
    return { ...rest, phase, reason: 'MaxUnavailable', waitsFor: budget <= 0 ? 'MaxUnavailable' : 'Domain', text };
  }
  const actions = chosen.map(({ node }) => planTouch(facts, node, progress.revision));
  const text = `assigning the revision to ${namesIn(chosen, nodeName)}${whyNotBegun(facts, progress, chosen)}`;
  return { ...rest, phase, reason: 'NodesAssigned', text, actions };
}

/** Why a drain that was tried has left nothing on its Node: a right is missing, or pods cannot be read. */
function whyNotBegun({ rules, drains }: Facts, { revision }: Progress, chosen: readonly Placement[]): string {
  for (const { node } of chosen) {
    const drain = drains.get(node.node);
    if (drain?.at === 'draining' && drain.revision === revision && drain.attempt === rules.attempt) return `; ${node.node}: ${drain.why}`;
  }
  return '';
}

/** As many of `next` as there is room for; with spreadBy only of one domain: that of nodes in flight, else that of the first. */
function choose({ facts, groups }: Seen, next: readonly Placement[], budget: number, places: number): Placement[] {
  const { spreadBy } = facts.rules;
  const domainOf = ({ node }: Placement): string | undefined => (spreadBy === undefined ? undefined : node.labels[spreadBy]);
  const [first = next[0]] = groups.of('in-flight');
  const domain = first && domainOf(first);
  const chosen: Placement[] = [];
  const most = Math.min(MAX_TOUCHES, remainingRecords(facts.cluster));
  // A node that is unavailable already takes no room.
  let [left, free] = [budget, groups.of('candidates-down').length + groups.of('pending').length];
  const hasPlace = placesFor(facts.cluster, places);
  for (const one of next) {
    if ((left === 0 && free === 0) || chosen.length >= most) break;
    if (one.isUnavailable) free -= 1;
    if (domainOf(one) !== domain || (left === 0 && !one.isUnavailable)) continue;
    if (!hasPlace(one.node.node)) continue;
    if (!one.isUnavailable) left -= 1;
    chosen.push(one);
  }
  return chosen;
}

/** The first node whose drain may last until a user acts: a disruption budget blocks it, or a right is missing. */
const heldOf = ({ facts: { drains }, groups }: Seen): Placement | undefined =>
  groups.of('in-flight').find(({ node }) => {
    const drain = drains.get(node.node);
    return drain?.at === 'draining' && drain.isHeld === true;
  });

const whyInFlight = (one: Placement | undefined): string => (one?.state.at === 'in-flight' ? `; ${one.node.node}: ${one.state.why}` : '');

/** With no node in flight, the unavailable nodes may stay so for long: in a large fleet users need their names. */
const whyElsewhere = ({ groups }: Seen): string =>
  groups.of('in-flight').length > 0 ? '' : `: ${namesIn(groups.of('unavailable'), nodeName)}`;

function waitForNodes(seen: Seen, progress: Progress): Decision {
  const inFlight = seen.groups.of('in-flight');
  const text = `${nodesText(inFlight.length)} in flight${whyInFlight(heldOf(seen) ?? inFlight[0])}`;
  const phase = progress.complete ? 'Complete' : 'Progressing';
  return orPaused(seen, { ...base(seen, { ...progress, stepSettledAt: undefined }), phase, reason: 'NodesInFlight', text });
}

/** A node that joins during the rollout gets the last complete revision, as all others have it, until its turn comes. */
function withJoiners(seen: Seen, decision: Decision): Decision {
  const { progress, actions = [] } = decision;
  const { rules, fleet } = seen.facts;
  const previous = progress?.previousRevision;
  if (progress === undefined || previous === undefined || progress.complete || isReturn(progress)) return decision;
  const chosen = new Set(actions.flatMap((action) => ('node' in action ? [action.node.node] : [])));
  const failed = new Set(seen.failures.map(({ node }) => node));
  const budget = maxUnavailableOf(rules, fleet.size) - seen.groups.of('unavailable').length - chosen.size;
  const suiting = firstOf(
    seen.groups.of('joiners'),
    Math.min(budget, MAX_TOUCHES),
    ({ node }) => !chosen.has(node.node) && !failed.has(node.node),
  );
  if (suiting.length === 0 || heldBy(seen, progress) !== undefined) return decision;
  const { cluster } = seen.facts;
  const hasPlace = placesFor(cluster, placesOf(cluster));
  for (const node of chosen) hasPlace(node);
  const joiners = suiting.filter(({ node }) => hasPlace(node.node));
  if (joiners.length === 0) return { ...decision, waitsForPlace: true };
  const more = joiners.map(({ node }): Action => ({ do: 'assign', node, revision: previous }));
  return { ...decision, actions: [...actions, ...more] };
}

function firstOf<T>(items: readonly T[], count: number, suits: (item: T) => boolean): T[] {
  const found: T[] = [];
  for (const item of items) {
    if (found.length >= count) break;
    if (suits(item)) found.push(item);
  }
  return found;
}

/** What a completed step waits for before the next one begins. */
function waitsAfter(seen: Seen, progress: Progress, step: { holdMs: Millis; approve: boolean }, since: string): Decision | undefined {
  const { rules, now, gates } = seen.facts;
  const rest = base(seen, progress);
  const { wakeUps = [] } = rest;
  const end = Date.parse(since) + step.holdMs;
  const why = now < end && rules.gates.length > 0 ? whyGatesBlock(gates) : undefined;
  if (why !== undefined) {
    const held = { ...rest, phase: 'Holding', reason: 'Gates', waitsFor: 'Gates', text: why } as const;
    if (gates === undefined) return { ...held, needsGates: true };
    // A hold counts only time in which all gates hold: it starts again.
    return { ...held, progress: { ...progress, stepSettledAt: rfc3339(now) }, wakeUps: [...wakeUps, gatesWakeUp] };
  }
  if (now < end) {
    const requeueAfter = rules.gates.length > 0 ? Math.min(end - now, GATES_RECHECK_MS) : end - now;
    return { ...rest, phase: 'Holding', reason: 'Hold', waitsFor: 'Hold', text: `step ${progress.step} is done; the next step begins at ${rfc3339(end)}`, wakeUps: [...wakeUps, { requeueAfter, why: 'a hold' }] }; // prettier-ignore
  }
  const isApproved = progress.approvals.some(({ step: of, revision }) => of === progress.step && revision === progress.revision);
  if (step.approve && !isApproved)
    return { ...rest, phase: 'Holding', reason: 'Approval', waitsFor: 'Approval', text: `step ${progress.step} is done and the next step waits for approval: dkc rollout approve ${rules.name}` }; // prettier-ignore
  return undefined;
}

function complete(seen: Seen, progress: Progress): Decision {
  const { size } = seen.facts.fleet;
  const left = seen.groups.of('left');
  const down = seen.groups.of('left-down').length;
  const text =
    left.length === 0
      ? `all ${nodesText(size)} have the revision`
      : `${size - left.length} of ${nodesText(size)} have the revision; missing: ${namesIn(left, nodeName)} (${down} not Ready, the others without an agent or with a kubelet that would reject it)`;
  return orPaused(seen, {
    ...base(seen, { ...progress, complete: true, stepSettledAt: undefined }),
    phase: 'Complete',
    reason: 'Complete',
    text,
  });
}
