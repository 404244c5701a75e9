import { rfc3339 } from '../../base/clock.ts';
import type { Decision, Facts } from './contract.ts';
import { type Groups, nodeName, failuresOnlyInStatus } from './grouping.ts';
import type { Group } from './grouping-rules.ts';
import type { Progress } from './progress.ts';
import { type Carried, compact, readStatus } from './read-status.ts';
import { bounded, MAX_MESSAGE, namesIn } from './text.ts';
import {
  type Condition,
  MAX_APPROVALS,
  MAX_FAILURES,
  type NodeConfigRollout,
  type NodeCounts,
  type NodeFailure,
  type RolloutStatus,
} from './types.ts';
import type { Meters } from '../../kube/process/contract.ts';

/** The status that a rollout should have. Conditions keep their lastTransitionTime where their status is as it was. Pure. */
export function statusOf(facts: Facts, decision: Decision): RolloutStatus {
  const { rules, window, fleet } = facts;
  const { progress, groups } = decision;
  const prior = rules.status;
  const counts = countsOf(decision, fleet.size);
  const next = window.open ? undefined : window.next?.from;
  const reported = progress === undefined ? keptOf(prior) : reportedProgress(progress, groups);
  return compact({
    observedGeneration: rules.generation,
    phase: decision.phase,
    ...reported,
    nodes: counts,
    nextWindow: next === undefined ? undefined : rfc3339(next),
    waitsFor: decision.waitsFor,
    message: bounded(`${summary(groups, counts)}${decision.text}`),
    conditions: conditionsOf(facts, decision),
  });
}

/** Without progress in the decision, the fields about revisions stay. */
function keptOf(prior: RolloutStatus): Carried {
  const { revision, previousRevision, stopped, complete, step, stepSettledAt, failures, approvals, attempt, attemptAt } = prior;
  return { revision, previousRevision, stopped, complete, step, stepSettledAt, failures, approvals, attempt, attemptAt };
}

function reportedProgress({ approvals, complete, ...progress }: Progress, groups: Groups | undefined): Carried {
  const failures = listedOf(progress, groups);
  return {
    ...progress,
    complete: complete ? true : undefined,
    failures: failures.length === 0 ? undefined : failures,
    approvals: approvals.length === 0 ? undefined : approvals.slice(-MAX_APPROVALS),
  };
}

/** As many as fit, the oldest first. Failures that only the status records come before all others: without them, their nodes would be touched again. */
function listedOf({ failures, revision }: Pick<Progress, 'failures' | 'revision'>, groups: Groups | undefined): NodeFailure[] {
  if (failures.length <= MAX_FAILURES) return [...failures];
  const kept = new Set(failuresOnlyInStatus(failures, groups, revision).slice(0, MAX_FAILURES));
  for (const one of failures) if (kept.size < MAX_FAILURES) kept.add(one);
  return failures.filter((one) => kept.has(one));
}

function countsOf({ groups, progress }: Decision, selected: number): NodeCounts {
  const count = (group: Group): number => groups?.of(group).length ?? 0;
  const [settled, inFlight] = [count('settled'), count('in-flight')];
  const updated = settled + inFlight + count('failed');
  return { selected, updated, settled, inFlight, failed: progress?.failures.length ?? 0, refused: count('refused') };
}

/** `3/10 nodes settled (a, b, c); `. */
function summary(groups: Groups | undefined, { selected, settled }: NodeCounts): string {
  if (groups === undefined || selected === 0) return '';
  return `${settled}/${selected} nodes settled${settled === 0 ? '' : ` (${namesIn(groups.of('settled'), nodeName)})`}; `;
}

/** Max refusals in one message: more would be cut off anyway. */
const MAX_REFUSALS = MAX_MESSAGE / 20;

type ReportedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

function conditionsOf({ rules, now, fleet: { conflicts } }: Facts, decision: Decision): Condition[] {
  const { phase, reason, text, progress } = decision;
  const complete = phase === 'Complete' || (phase === 'Paused' && progress?.complete === true);
  const refused = decision.groups?.of('refused').slice(0, MAX_REFUSALS) ?? [];
  const going = phase === 'Progressing' || phase === 'RollingBack';
  const failed = phase === 'Failed' || phase === 'RolledBack' || phase === 'RollingBack' || reason === 'FailureBudget';
  const reported: ReportedCondition[] = [
    { type: 'Progressing', status: going ? 'True' : 'False', reason, message: text },
    { type: 'Complete', status: complete ? 'True' : 'False', reason, message: text },
    { type: 'Failed', status: failed ? 'True' : 'False', reason, message: text },
    // Never an empty message: API servers of 1.20 treat it as missing, and reject the status.
    refused.length > 0
      ? {
          type: 'Preflight',
          status: 'False',
          reason: 'Rejected',
          message: refused.map(({ node, refusal }) => `${node.node}: ${refusal}`).join('; '),
        }
      : decision.progress === undefined
        ? { type: 'Preflight', status: 'Unknown', reason, message: 'no configuration has been validated yet' }
        : {
            type: 'Preflight',
            status: 'True',
            reason: 'Valid',
            message: 'no kubelet of the selected nodes would reject the configuration',
          },
    conflicts.count === 0
      ? { type: 'Conflict', status: 'False', reason: 'None', message: 'no older rollout selects any of the same nodes' }
      : { type: 'Conflict', status: 'True', reason: 'OlderRollout', message: `older rollouts (${conflicts.holders}) also select ${conflicts.nodes}; these nodes are left to them` }, // prettier-ignore
  ];
  const prior = rules.status.conditions ?? [];
  const others = prior.filter(({ type }) => reported.every((one) => one.type !== type)).slice(0, 8);
  return [
    ...reported.map((one) => ({
      ...one,
      message: bounded(one.message),
      observedGeneration: rules.generation,
      lastTransitionTime: prior.find(({ type, status }) => type === one.type && status === one.status)?.lastTransitionTime ?? rfc3339(now),
    })),
    ...others,
  ];
}

/**
 * Metrics from the statuses of all rollouts, for alerts: a series of the phase, and six of nodes, for each rollout.
 * @param list - as the cache has them; a rollout without a status counts as Pending
 */
export function rolloutMetrics(meters: Pick<Meters, 'series'>, list: () => readonly Readonly<NodeConfigRollout>[]): void {
  meters.series(
    'rollout_controller_rollout_phase',
    'The phase that a rollout is in, and the reason: why it has stopped (Failures, Aborted), else what it waits for. The value is always 1.',
    ['rollout', 'phase', 'reason'],
    () =>
      list().map((rollout) => {
        const { phase = 'Pending', stopped, waitsFor } = readStatus(rollout);
        return { labels: { rollout: rollout.metadata.name ?? '', phase, reason: stopped ?? waitsFor ?? '' }, value: 1 };
      }),
  );
  meters.series(
    'rollout_controller_rollout_nodes',
    'Number of nodes of a rollout, by state: selected, updated, settled, inFlight, failed, refused',
    ['rollout', 'state'],
    () =>
      list().flatMap((rollout) =>
        Object.entries(readStatus(rollout).nodes ?? {}).map(([state, value]) => ({
          labels: { rollout: rollout.metadata.name ?? '', state },
          value,
        })),
      ),
  );
}
