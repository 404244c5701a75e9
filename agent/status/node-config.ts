import type { Source } from '../checkpoint/source.ts';
import type { Json } from '../config/contract.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Wanted } from '../sync/plan.ts';
import { nodeConfigConditions, type Condition, type Health } from './conditions.ts';
import type { ConfigStatus } from './node-config-state.ts';
import { configStatus, memberPatch, wantedConfigMap } from './node-status.ts';

/** Our own object, which has the name of its Node. `deploy/nodeconfig-crd.ts` has its schema. */
export const nodeConfigs: Resource = {
  group: 'dkc.dev',
  version: 'v1alpha1',
  resource: 'nodeconfigs',
  kind: 'NodeConfig',
  namespaced: false,
};

/** As the API server keeps it. Who reads one still checks what it holds. */
export interface NodeConfig extends KubeObject {
  spec?: { configMap?: unknown };
  status?: NodeConfigStatus;
}

export interface NodeConfigStatus {
  /** The generation of spec that this status speaks of. */
  observedGeneration?: number;
  /** Absent: local, here and in the next two. */
  assigned?: { configMap: Source };
  active?: { configMap: Source };
  lastKnownGood?: { configMap: Source };
  error?: string;
  /** Absent without a running trial. */
  trial?: { endsAt: string };
  agentVersion?: string;
  /** As the Node reports it: `v1.36.3`. */
  kubeletVersion?: string;
  conditions?: Condition[];
}

/** What the status says beside upstream's facts. */
export interface NodeConfigFacts {
  agentVersion: string;
  /** '' where the Node has not reported one. */
  kubeletVersion: string;
  health: Health;
  /** RFC 3339, UTC, to the second. */
  now: string;
}

/**
 * What `spec` of a NodeConfig says; without `configMap` local.
 * @param namespace - the only namespace this agent may read; '' allows any
 */
export function wantedOfNodeConfig({ spec }: Pick<NodeConfig, 'spec'>, namespace: string): Wanted {
  const configMap = spec?.configMap;
  if (configMap === undefined || configMap === null) return { at: 'local' };
  return wantedConfigMap(configMap, 'spec.configMap', namespace);
}

/** The status that a NodeConfig should have. Conditions keep their lastTransitionTime where their status is as it was. */
export function nodeConfigStatus(
  { metadata, spec, status }: NodeConfig,
  picture: ConfigStatus,
  facts: NodeConfigFacts,
): Record<string, Json> {
  const { generation = 0 } = metadata;
  const { agentVersion, kubeletVersion, health, now } = facts;
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

/** The merge patch of `status` from what a NodeConfig says to what it should say; undefined when nothing differs. Members that go are sent as null. */
export function nodeConfigPatch(
  seen: NodeConfig,
  picture: ConfigStatus,
  facts: NodeConfigFacts,
): { status: Record<string, Json> } | undefined {
  const status = memberPatch(seen.status, nodeConfigStatus(seen, picture, facts));
  return status && { status };
}
