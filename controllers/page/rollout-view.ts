import { isJsonObject } from '../../kube/api/json.ts';
import { targetOf, type Rules } from '../rollout/rules.ts';
import type { NodeConfigRollout } from '../rollout/types.ts';
import type { PageEvent, PageRollout } from './contract.ts';

/** Longest text, in characters. */
const MAX_TEXT = 1_000;
const MAX_ITEMS = 50;
const MAX_EVENTS = 40;
const noNodes = { selected: 0, updated: 0, settled: 0, inFlight: 0, failed: 0, refused: 0 };

/** What the page shows of a rollout. Pure; what has not the shape of the schema counts as absent. */
export function pageRollout({ rollout, ...rules }: Rules): PageRollout {
  const { spec = {}, status = {}, metadata } = rollout;
  const { namespace, name, kubeletConfigKey } = rules.configMap;
  const nodes = { ...noNodes, ...status.nodes };
  const conditions = listOf(status.conditions).map(({ type, status, reason, message, lastTransitionTime }) => ({
    type: text(type),
    status,
    reason: text(reason),
    message: text(message),
    lastTransitionTime: text(lastTransitionTime),
  }));
  return {
    name: metadata.name ?? '',
    phase: status.phase ?? '',
    message: rules.problems.length > 0 ? text(rules.problems.join('; ')) : text(status.message),
    waitsFor: text(status.waitsFor),
    stopped: status.stopped ?? '',
    paused: rules.paused,
    configMap: `${namespace}/${name}:${kubeletConfigKey}`,
    revision: text(status.revision),
    previousRevision: text(status.previousRevision),
    step: status.step ?? 0,
    steps: rules.steps.map((step) => ({
      nodes: String(step.nodes),
      target: targetOf(step, nodes.selected),
      holdMs: step.holdMs,
      approve: step.approve,
    })),
    stepSettledAt: text(status.stepSettledAt),
    nodes,
    maxUnavailable: String(rules.maxUnavailable),
    failureBudget: String(rules.failureBudget),
    onFailure: rules.onFailure,
    drain: rules.drain,
    windows: listOf(spec.windows).map(({ schedule, duration, timeZone }) => ({
      schedule: text(schedule),
      duration: text(duration),
      ...(timeZone === undefined ? {} : { timeZone: text(timeZone) }),
    })),
    nextWindow: text(status.nextWindow),
    gates: listOf(spec.gates).map((gate) => ({ name: text(gate.name), kind: kindOf(gate) })),
    failures: listOf(status.failures).map(({ node, error, at }) => ({ node: text(node), error: text(error), at: text(at) })),
    approvals: listOf(status.approvals).map(({ step, revision, by, at }) => ({
      step,
      revision: text(revision),
      by: text(by),
      at: text(at),
    })),
    conditions,
    timeline: timelineOf(rollout, conditions),
  };
}

function kindOf(gate: object): string {
  return ['prometheus', 'alerts', 'object'].find((kind) => (gate as Record<string, unknown>)[kind] !== undefined) ?? '';
}

/** What the object itself says of when things happened; events of the API server last an hour, this as long as the rollout. */
function timelineOf({ metadata, status = {} }: Readonly<NodeConfigRollout>, conditions: PageRollout['conditions']): PageEvent[] {
  const events: PageEvent[] = [
    { at: metadata.creationTimestamp ?? '', kind: 'created', text: 'created' },
    ...conditions
      .filter(({ type, status }) => status === 'True' || type === 'Progressing')
      .map(({ type, status, reason, message, lastTransitionTime }): PageEvent => ({
        at: lastTransitionTime,
        kind: 'condition',
        text: `${type}=${status} ${reason}${message === '' ? '' : `: ${message}`}`,
      })),
    ...listOf(status.approvals).map(({ step, by, at }): PageEvent => ({
      at,
      kind: 'approval',
      text: `step ${step} approved by ${text(by)}`,
    })),
    ...listOf(status.failures).map(({ node, error, at }): PageEvent => ({
      at,
      kind: 'failure',
      text: `${text(node)} failed: ${text(error)}`,
    })),
    ...(status.stepSettledAt === undefined
      ? []
      : [{ at: status.stepSettledAt, kind: 'settled' as const, text: `every node of step ${status.step ?? 0} settled` }]),
  ];
  return events
    .filter(({ at }) => typeof at === 'string' && at !== '')
    .toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
    .slice(0, MAX_EVENTS);
}

const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, MAX_TEXT) : '');

function listOf<T extends object>(items: readonly T[] | undefined): readonly T[] {
  return Array.isArray(items) ? (items as readonly T[]).filter((one) => isJsonObject(one)).slice(-MAX_ITEMS) : [];
}
