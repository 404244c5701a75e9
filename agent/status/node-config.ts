import { sameSource, type Source, sourceText } from '../checkpoint/source.ts';
import type { Json } from '../config/contract.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Wanted } from '../sync/plan.ts';
import { type ConfigStatus, statusErrors } from './node-config-state.ts';
import { configStatus, memberPatch, wantedConfigMap } from './node-status.ts';

/** The custom resource of dkc; an object has the name of its Node. `deploy/nodeconfig-crd.ts` has its schema. */
export const nodeConfigs: Resource = {
  group: 'dkc.dev',
  version: 'v1alpha1',
  resource: 'nodeconfigs',
  kind: 'NodeConfig',
  namespaced: false,
};

/** A NodeConfig from the API server. Readers must validate its members. */
export interface NodeConfig extends KubeObject {
  spec?: { configMap?: unknown };
  status?: NodeConfigStatus;
}

export interface NodeConfigStatus {
  /** The generation of spec that this status refers to. */
  observedGeneration?: number;
  /** Absent: local. The same for `active` and `lastKnownGood`. */
  assigned?: { configMap: Source };
  active?: { configMap: Source };
  lastKnownGood?: { configMap: Source };
  error?: string;
  /** Absent without a running trial. */
  trial?: { endsAt: string };
  agentVersion?: string;
  /** From the Node's nodeInfo: `v1.36.3`. */
  kubeletVersion?: string;
  conditions?: Condition[];
}

/** What the status has beside upstream's members. */
export interface NodeConfigFacts {
  agentVersion: string;
  /** '' where the Node has not reported one. */
  kubeletVersion: string;
  health: Health;
  /** RFC 3339, UTC, to the second. */
  now: string;
  /** The current spec is not synced yet, or the agent is about to exit for it: `observedGeneration` stays as it was. @default false */
  isBehind?: boolean;
}

/**
 * The assignment in `spec` of a NodeConfig; local without `configMap`.
 * @param namespace - the only namespace this agent may read; '' allows any
 */
export function wantedOfNodeConfig({ spec }: Pick<NodeConfig, 'spec'>, namespace: string): Wanted {
  const configMap = spec?.configMap;
  if (configMap === undefined || configMap === null) return { at: 'local' };
  return wantedConfigMap(configMap, 'spec.configMap', namespace);
}

/** The status that a NodeConfig should have. Conditions keep their lastTransitionTime where their status is unchanged. */
function nodeConfigStatus({ metadata, spec, status }: NodeConfig, picture: ConfigStatus, facts: NodeConfigFacts): Record<string, Json> {
  const { agentVersion, kubeletVersion, health, now, isBehind = false } = facts;
  const generation = isBehind ? generationBefore(status) : (metadata.generation ?? 0);
  const conditions = nodeConfigConditions(picture, {
    wanted: wantedOfNodeConfig(spec ? { spec } : {}, ''),
    health,
    generation,
    now,
    before: status?.conditions,
  });
  return {
    observedGeneration: generation,
    ...configStatus(picture),
    ...(picture.trial ? { trial: { endsAt: picture.trial.endsAt } } : {}),
    agentVersion,
    ...(kubeletVersion === '' ? {} : { kubeletVersion }),
    conditions: conditions.map((condition) => ({ ...condition })),
  };
}

/** Checks the type, since another writer may have set any value. */
function generationBefore(status: NodeConfigStatus | undefined): number {
  const { observedGeneration: before } = status ?? {};
  return typeof before === 'number' ? before : 0;
}

/**
 * The merge patch from the seen to the wanted `status`; undefined when they are equal. Removed members are sent as null. A merge patch replaces
 * `conditions` as a whole, so one with conditions has the seen resourceVersion: the server rejects it (409) if another writer came first, whose
 * condition would be lost.
 */
export function nodeConfigPatch(
  seen: NodeConfig,
  picture: ConfigStatus,
  facts: NodeConfigFacts,
): { metadata?: { resourceVersion: string }; status: Record<string, Json> } | undefined {
  const { resourceVersion } = seen.metadata;
  const status = memberPatch(seen.status, nodeConfigStatus(seen, picture, facts));
  if (status === undefined) return undefined;
  return status['conditions'] === undefined || resourceVersion === undefined ? { status } : { metadata: { resourceVersion }, status };
}

/** A `metav1.Condition`. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** The generation of the object that the condition refers to. */
  observedGeneration: number;
  /** RFC 3339, UTC: when `status` changed last. */
  lastTransitionTime: string;
  /** In CamelCase. */
  reason: string;
  message: string;
}

/** Health of the kubelet. `problem`: why it is unhealthy. */
export type Health = { at: 'unknown' } | { at: 'healthy' } | { at: 'unhealthy'; problem: string };

interface ConditionFacts {
  wanted: Wanted;
  health: Health;
  generation: number;
  now: string;
  /** The conditions as last seen, not validated: another writer may have set any value. */
  before: unknown;
}

type ReportedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** Longest message, in characters. */
const MAX_MESSAGE = 1000;
/** Most conditions of other writers that are kept; the schema allows 16 in all. */
const MAX_OTHERS = 12;

/** Synced, Healthy, Trusted and, after the first drift check, Drifted; then the conditions of other writers. Pure. */
function nodeConfigConditions(picture: ConfigStatus, facts: ConditionFacts): Condition[] {
  const { generation, now, before } = facts;
  const old = Array.isArray(before) ? before.filter(isCondition) : [];
  const reported = [synced(picture, facts.wanted), healthy(facts.health), trusted(picture), ...drifted(picture)];
  const ours = reported.map((one) => {
    const last = old.find(({ type, status }) => type === one.type && status === one.status);
    return {
      ...one,
      message: one.message.slice(0, MAX_MESSAGE),
      observedGeneration: generation,
      lastTransitionTime: last?.lastTransitionTime ?? now,
    };
  });
  const others = old.filter(({ type }) => reported.every((one) => one.type !== type));
  return [...ours, ...others.slice(0, MAX_OTHERS)];
}

/** Whether the node uses the config in spec. */
function synced({ assigned, active, error }: ConfigStatus, wanted: Wanted): ReportedCondition {
  const condition = (status: ReportedCondition['status'], reason: string, message: string): ReportedCondition => ({
    type: 'Synced',
    status,
    reason,
    message,
  });
  if (error !== null) return condition('False', reasons[error] ?? 'Failed', error);
  const isWanted =
    wanted.at === 'local'
      ? assigned === null
      : wanted.at === 'source' &&
        assigned !== null &&
        assigned.namespace === wanted.spec.namespace &&
        assigned.name === wanted.spec.name &&
        assigned.kubeletConfigKey === wanted.spec.kubeletConfigKey;
  if (!isWanted) return condition('False', 'Pending', 'the agent has not applied the configuration in spec yet');
  if (!sameSource(assigned, active)) return condition('False', 'Pending', `the kubelet uses ${sourceText(active)} until its next start`);
  if (active === null) return condition('True', 'Local', 'the kubelet uses its local configuration');
  return condition('True', 'Assigned', `the kubelet uses ${sourceText(active)}`);
}

const reasons: Readonly<Record<string, string>> = {
  [statusErrors.load]: 'LoadFailed',
  [statusErrors.validate]: 'ValidationFailed',
  [statusErrors.internal]: 'InternalFailure',
  [statusErrors.noSource]: 'NoSource',
  [statusErrors.download]: 'DownloadFailed',
  [statusErrors.syncInternal]: 'SyncFailed',
  [statusErrors.failedTrial]: 'TrialFailed',
  [statusErrors.rolledBack]: 'RolledBack',
};

function healthy(health: Health): ReportedCondition {
  const type = 'Healthy';
  switch (health.at) {
    case 'unknown':
      return { type, status: 'Unknown', reason: 'NotProbed', message: 'the agent has not probed the kubelet yet' };
    case 'healthy':
      return { type, status: 'True', reason: 'KubeletHealthy', message: 'the kubelet is healthy' };
    case 'unhealthy':
      return { type, status: 'False', reason: 'KubeletUnhealthy', message: health.problem };
  }
}

/** Whether the config that the kubelet uses has passed its trial. The local configuration needs none. */
function trusted({ active, lastKnownGood, trial }: ConfigStatus): ReportedCondition {
  const condition = (status: ReportedCondition['status'], reason: string, message: string): ReportedCondition => ({
    type: 'Trusted',
    status,
    reason,
    message,
  });
  if (active === null) return condition('True', 'Local', 'the local configuration needs no trial');
  if (sameSource(active, lastKnownGood)) return condition('True', 'TrialPassed', `${sourceText(active)} is last known good`);
  if (trial) return condition('False', 'InTrial', `${sourceText(active)} is on trial`);
  return condition('False', 'NotProven', `${sourceText(active)} has not passed a trial`);
}

/** Whether the node runs something else than its agent wrote. Before the first check the condition of the previous agent stays. */
function drifted({ drift }: ConfigStatus): ReportedCondition[] {
  const type = 'Drifted';
  const [first] = drift ?? [];
  if (drift === undefined) return [];
  if (first === undefined) return [{ type, status: 'False', reason: 'NoDrift', message: 'the node runs what the agent wrote' }];
  return [{ type, status: 'True', reason: first.kind, message: drift.map(({ kind, detail }) => `${kind}: ${detail}`).join('; ') }];
}

function isCondition(value: unknown): value is Condition {
  if (typeof value !== 'object' || value === null) return false;
  const { type, status, lastTransitionTime } = value as Record<string, unknown>;
  return typeof type === 'string' && typeof status === 'string' && typeof lastTransitionTime === 'string';
}
