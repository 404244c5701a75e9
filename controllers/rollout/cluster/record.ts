import { type Millis, rfc3339 } from '../../../base/clock.ts';
import { isJsonObject } from '../../../kube/api/json.ts';
import type { Action, Facts } from '../contract.ts';
import { isDrainedBy } from '../maintenance.ts';
import type { ConfigMap } from '../revision.ts';
import type { Rules } from '../rules.ts';
import type { Touches } from '../types.ts';
import type { ClusterFacts, ClusterTouch } from './budget.ts';

/**
 * Name of the ConfigMap with the touches of all rollouts, in the namespace of their copies. It exists if the cluster has a budget. With only the status of each
 * rollout, two rollouts, or two controllers, could take the same last place; of two writes of one ConfigMap on the same version, the API server accepts
 * one.
 */
export const RECORD = 'dkc-rollout-touches';
/** Max touches in the record: a ConfigMap holds a MiB. */
export const MAX_RECORDED = 1_000;

const LABEL = { 'app.kubernetes.io/managed-by': 'dkc' };

/** The content of the ConfigMap. Invalid parts count as absent. */
export interface ClusterRecord {
  maxUnavailable: string;
  touches: readonly ClusterTouch[];
  versions: Omit<Touches, 'nodes'>;
}

export function readRecord({ data = {} }: Pick<ConfigMap, 'data'>): ClusterRecord {
  const { maxUnavailable = '', touches = '', nodesVersion, nodeConfigsVersion } = data;
  const versions = { ...(nodesVersion && { nodesVersion }), ...(nodeConfigsVersion && { nodeConfigsVersion }) };
  return { maxUnavailable, touches: readTouches(touches), versions };
}

export function readTouches(text: string): ClusterTouch[] {
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) ? read.filter(isTouch) : [];
  } catch {
    return [];
  }
}

const isTouch = (one: unknown): one is ClusterTouch =>
  isJsonObject(one) && ['node', 'rollout', 'at'].every((member) => typeof one[member] === 'string');

/**
 * What the ConfigMap must contain before these actions are executed; undefined: it needs no write. A drain that the Node records, or a touch that was
 * recorded a moment ago, has its place already.
 */
export function recordFor(
  { cluster, rules, now, versions = { nodesVersion: '', nodeConfigsVersion: '' } }: Pick<Facts, 'cluster' | 'rules' | 'now' | 'versions'>,
  actions: readonly Action[],
): Record<string, string> | undefined {
  if (cluster === undefined) return undefined;
  const added = actions.flatMap((action) => touchOf(action, cluster, rules, now) ?? []);
  const maxUnavailable = cluster.budget;
  if (added.length === 0) return cluster.recorded === maxUnavailable ? undefined : { maxUnavailable };
  const all = new Map([...cluster.pending, ...added.map((touch) => [touch.node, touch] as const)]);
  return { maxUnavailable, touches: JSON.stringify([...all.values()]), ...versions };
}

function touchOf(action: Action, { pending, isOld }: ClusterFacts, rules: Rules, now: Millis): ClusterTouch | undefined {
  if (action.do !== 'assign' && action.do !== 'drain') return undefined;
  const { node, revision } = action;
  const drains = action.do === 'drain';
  if (drains && isDrainedBy(node, rules)) return undefined;
  const known = pending.get(node.node);
  const isSame = known?.rollout === rules.name && known.revision === revision && (known.drain === true) === drains;
  if (isSame && !isOld(known)) return undefined;
  return {
    node: node.node,
    rollout: rules.name,
    ...(revision === undefined ? {} : { revision }),
    at: rfc3339(now),
    ...(drains ? { drain: true } : {}),
  };
}

export const newRecord = (namespace: string, data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: RECORD, namespace, labels: LABEL },
  data,
});
