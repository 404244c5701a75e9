import { sourceText } from '../../agent/checkpoint/source.ts';
import { rfc3339 } from '../../base/clock.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { fleetState } from '../fleet/fleet-node.ts';
import { type RolloutNode, rolloutState } from '../rollout/node.ts';
import { noNodes, readStatus } from '../rollout/read-status.ts';
import type { NodeConfigRollout, RolloutStatus } from '../rollout/types.ts';
import { type Rules, stepsFor, targetOf } from '../rollout/rules.ts';
import { type PageCondition, type PageEvent, type PageNode, type PageRollout, type PageStanding, POOL_LABELS } from './contract.ts';

/** Longest text, in characters: writers of a status may write texts of any length. */
const MAX_TEXT = 1_000;
const MAX_REASON = 80;
/** Max conditions of one object. */
const MAX_CONDITIONS = 32;
/** Conditions that the drain of a rollout keeps on a Node while it is worked on, in the order of the work. */
const MAINTENANCE = ['MaintenanceInProgress', 'DrainInProgress', 'Drained'];

/** What the page shows of a node. Pure. @param rules - of the rollout that has the node; absent: none has it */
export function pageNode(node: RolloutNode, rules: Rules | undefined): PageNode {
  const { labels, object, agent } = node;
  const endsAt = agent?.trial?.endsAtMs ?? undefined;
  return {
    name: node.node,
    state: fleetState(node),
    rollout: rules?.name ?? '',
    standing: rules === undefined ? '' : pageStanding(node, rules),
    ready: node.ready === null ? '' : node.ready ? 'True' : 'False',
    cordoned: node.cordoned ? 'True' : '',
    maintenance: maintenanceOf(object),
    zone: labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? '',
    pool: POOL_LABELS.map((label) => labels[label]).find((value) => value !== undefined) ?? '',
    kubeletVersion: node.kubeletVersion.slice(0, 80),
    agentVersion: agent?.version ?? '',
    wanted: sourceText(node.wanted),
    assigned: sourceText(node.assigned),
    active: sourceText(node.active),
    lastKnownGood: sourceText(node.lastKnownGood),
    trialEndsAt: endsAt === undefined ? '' : rfc3339(endsAt),
    error: node.error ?? '',
    drift: (node.drift ?? '').slice(0, MAX_REASON),
  };
}

/**
 * The standing of a node according to the status of its rollout: a deadline counts as passed once the controller has written the failure, so that the result
 * changes only when an object does.
 */
function pageStanding(node: RolloutNode, { status, configMap }: Rules): PageStanding {
  const { revision, previousRevision, failures = [], phase, stopped } = status;
  if (revision === undefined) return '';
  if (stopped !== undefined && failures.some((failure) => failure.node === node.node)) return 'failed';
  const goesBack = phase === 'RollingBack' || phase === 'RolledBack';
  const name = goesBack ? previousRevision : revision;
  const { namespace, kubeletConfigKey } = configMap;
  return rolloutState(node, name === undefined ? null : { namespace, name, kubeletConfigKey }, { deadlineMs: Infinity, now: 0 }).at;
}

/** Conditions of a node's two objects, for its details. Pure. */
export function conditionsOf({ object, config }: Pick<RolloutNode, 'object' | 'config'>): PageCondition[] {
  return [...read('NodeConfig', config), ...read('Node', object)];
}

function read(of: PageCondition['of'], object: Readonly<KubeObject> | undefined): PageCondition[] {
  return rawConditions(object)
    .slice(0, MAX_CONDITIONS)
    .map((raw) => {
      const text = (name: string): string => {
        const value = raw[name];
        return typeof value === 'string' ? value.slice(0, MAX_TEXT) : '';
      };
      const since = text('lastTransitionTime');
      return { of, type: text('type'), status: text('status'), reason: text('reason'), message: text('message'), since };
    });
}

function rawConditions(object: Readonly<KubeObject> | undefined): Readonly<Record<string, unknown>>[] {
  const status = (object as { status?: unknown } | undefined)?.status;
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  return Array.isArray(conditions) ? conditions.filter((one) => isJsonObject(one)) : [];
}

function maintenanceOf(object: Readonly<KubeObject>): string {
  const conditions = rawConditions(object);
  return MAINTENANCE.findLast((type) => conditions.some((one) => one['type'] === type && one['status'] === 'True')) ?? '';
}

/** What determines the standing of a rollout's nodes: only when this changes are all of its nodes computed again. */
export function standingsKey(rollout: Readonly<NodeConfigRollout>): string {
  const { spec, metadata } = rollout;
  const { revision, previousRevision, phase, stopped, failures = [] } = readStatus(rollout);
  const failed = stopped === undefined ? [] : failures.map(({ node }) => node);
  return JSON.stringify([metadata.uid, metadata.deletionTimestamp, spec?.nodeSelector, spec?.configMap, revision, previousRevision, phase, stopped, failed]); // prettier-ignore
}

const MAX_ITEMS = 50;
const MAX_EVENTS = 40;

/** What the page shows of a rollout. Pure; parts that do not match the schema count as absent. */
export function pageRollout({ rollout, status, ...rules }: Rules): PageRollout {
  const { metadata } = rollout;
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
    steps: stepsFor(rules, nodes.selected).map((step) => ({
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
    windows: listOf(rules.windows).map(({ schedule, duration, timeZone }) => ({
      schedule: text(schedule),
      duration: text(duration),
      ...(timeZone === undefined ? {} : { timeZone: text(timeZone) }),
    })),
    nextWindow: text(status.nextWindow),
    gates: listOf(rules.gates).map((gate) => ({ name: text(gate.name), kind: kindOf(gate) })),
    failures: listOf(status.failures).map(({ node, error, at }) => ({ node: text(node), error: text(error), at: text(at) })),
    approvals: listOf(status.approvals).map(({ step, revision, by, at }) => ({
      step,
      revision: text(revision),
      by: text(by),
      at: text(at),
    })),
    conditions,
    timeline: timelineOf(metadata, status, conditions),
  };
}

function kindOf(gate: object): string {
  return ['prometheus', 'alerts', 'object'].find((kind) => (gate as Record<string, unknown>)[kind] !== undefined) ?? '';
}

/** The timeline recorded in the object itself: events of the API server last an hour, this lasts as long as the rollout. */
function timelineOf(metadata: NodeConfigRollout['metadata'], status: RolloutStatus, conditions: PageRollout['conditions']): PageEvent[] {
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
