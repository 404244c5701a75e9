import type { Millis } from '../../base/clock.ts';
import { BY_OWNER, byOwner, isControlledBy } from '../../kube/controller/owners.ts';
import { configMapsNamedIn } from '../fleet/read-fleet-node.ts';
import type { ServerFacts } from '../fleet/server-facts.ts';
import type { ClockGaps } from './clock-gaps.ts';
import type { Cluster } from './cluster/cluster.ts';
import type { MaybeSource } from '../../agent/checkpoint/source.ts';
import type { Drains } from './drains.ts';
import type { Facts, KubeletConfigs } from './contract.ts';
import type { Fleets } from './fleet.ts';
import { type ConfigMap, revisionName } from './revision.ts';
import type { Rules } from './rules.ts';
import { type Count, type NodeConfigRollout, rollouts } from './types.ts';
import { windowState } from './windows.ts';
import { fieldsOf } from '../../kube/api/json.ts';
import { configMaps, type KubeObject, nodes } from '../../kube/api/object.ts';
import type { Informer, Key } from '../../kube/cache/contract.ts';
import type { Runtime } from '../../kube/process/contract.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';
import type { Node } from './drain/contract.ts';
import type { PrometheusServer } from './gates/contract.ts';
import { rolloutsRecordedOn } from './maintenance.ts';
import type { KnownTouchesOf } from './touches.ts';

export interface Caches {
  rollouts: Informer<NodeConfigRollout>;
  nodes: Informer<KubeObject>;
  nodeConfigs: Informer<KubeObject>;
  /** Of the namespace that agents read from. */
  configMaps: Informer<ConfigMap>;
}

export interface RolloutOptions {
  /** Namespace of ConfigMaps that agents may read. @default dkc-system */
  configMapNamespace?: string;
  /** Nodes of the whole cluster that may be unavailable at once, over all rollouts. @default no such budget */
  maxUnavailable?: Count | undefined;
  /** Servers that gates query with credentials or a private CA. @default none */
  prometheusServers?: readonly PrometheusServer[] | undefined;
  /** Rollouts that are synced concurrently. @default 5 */
  workers?: number;
}

export const DEFAULT_NAMESPACE = 'dkc-system';

const nodeFields = [
  'metadata.labels',
  'metadata.annotations',
  'metadata.creationTimestamp',
  'spec.configSource',
  'spec.unschedulable',
  'status.config',
  'status.nodeInfo.kubeletVersion',
  ...['type', 'status', 'reason', 'message'].map((field) => `status.conditions.${field}`),
];

/** Index of Nodes on which rollouts have left something. */
const WORKED_ON = 'worked-on-by-rollouts';
const hasRollouts = (node: Readonly<KubeObject>): string[] => (rolloutsRecordedOn(node as Readonly<Node>).length > 0 ? [''] : []);

/** Index of the objects that carry assignments, by the ConfigMaps that they name. */
const USING = 'by-config-map-used';
const using = (object: Readonly<KubeObject>): string[] => configMapsNamedIn(object).map(({ namespace, name }) => `${namespace}/${name}`);

/** Index of rollouts by the ConfigMap that they roll out. */
export const ROLLING_OUT = 'by-config-map-rolled-out';
const rollingOut = ({ spec }: Readonly<NodeConfigRollout>): string[] => {
  const { namespace, name } = fieldsOf(fieldsOf(spec)['configMap']);
  return typeof namespace === 'string' && typeof name === 'string' ? [`${namespace}/${name}`] : [];
};

/** Index of rollouts by the prefix of their copies' names. */
export const COPYING_TO = 'by-name-of-copies';
const copyingTo = ({ metadata: { name = '' } }: Readonly<NodeConfigRollout>): string[] => [revisionName(name, '')];

export const rolloutIndexes = { [ROLLING_OUT]: rollingOut, [COPYING_TO]: copyingTo };

/** Nodes on which rollouts have left something. */
export const nodesWorkedOn = ({ nodes: of }: Pick<Caches, 'nodes'>): Readonly<Node>[] => of.indexed(WORKED_ON, '') as Readonly<Node>[];

/** Requests the caches that the controller needs. */
export function cachesOf({ informers }: Pick<Runtime, 'informers'>, { configMapNamespace = DEFAULT_NAMESPACE }: RolloutOptions): Caches {
  return {
    rollouts: informers.of<NodeConfigRollout>(rollouts, { fields: 'all', indexes: rolloutIndexes }),
    nodes: informers.of(nodes, { fields: nodeFields, indexes: { [WORKED_ON]: hasRollouts, [USING]: using } }),
    nodeConfigs: informers.of(nodeConfigs, { fields: 'all', indexes: { [USING]: using } }),
    configMaps: informers.of<ConfigMap>(configMaps, { fields: 'all', indexes: { [BY_OWNER]: byOwner } }, { namespace: configMapNamespace }),
  };
}

/** The copies that a rollout has created, in the namespace of its ConfigMap. */
export function copiesOf(
  { configMaps: of }: { configMaps: Pick<Caches['configMaps'], 'indexed'> },
  { uid, configMap }: Rules,
): Readonly<ConfigMap>[] {
  return of.indexed(BY_OWNER, uid).filter(({ metadata }) => metadata.namespace === configMap.namespace);
}

export interface ObserveDeps {
  caches: Caches;
  rules: (rollout: Readonly<NodeConfigRollout>) => Rules;
  configs: KubeletConfigs;
  serves: ServerFacts;
  drains: Pick<Drains, 'statesOf'>;
  fleets: Fleets;
  touches: Pick<KnownTouchesOf, 'rollout'>;
  /** What the last reconcile of each rollout could not write. @default nothing */
  unwritten?: ReadonlyMap<Key, { why: ReadonlyMap<string, string> }>;
  /** For a budget over all rollouts. @default there is none */
  cluster?: Cluster | undefined;
  /** @default the wall clock is never set */
  gaps?: Pick<ClockGaps, 'measure'>;
}

/** What the caches have of one rollout now; undefined: requeue at once, there are more nodes to read. Only reads: the plan decides. */
export function observe(rules: Rules, now: Millis, by: ObserveDeps): Omit<Facts, 'gates'> | undefined {
  const { caches } = by;
  const { configMap, rollout, status } = rules;
  const fleet = by.fleets.read(rules, by);
  if (fleet === undefined) return undefined;
  const cluster = by.cluster?.read(rules.name, caches, by.serves, now);
  if (by.cluster !== undefined && cluster === undefined) return undefined;
  const touches = by.touches.rollout(rules.name);
  touches.see(status.touches?.nodes ?? []);
  return {
    rules,
    now,
    source: caches.configMaps.get(`${configMap.namespace}/${configMap.name}`),
    revisions: copiesOf(caches, rules),
    isTaken: (name) => {
      const found = caches.configMaps.get(`${configMap.namespace}/${name}`);
      return found !== undefined && !isControlledBy(found, rollout);
    },
    isUsed: (name) => [caches.nodes, caches.nodeConfigs].some((cache) => cache.indexed(USING, `${configMap.namespace}/${name}`).length > 0),
    fleet,
    cluster,
    configs: by.configs,
    payloadOf: (from) => payloadOf(caches, from),
    drains: by.drains.statesOf(rules.name),
    window: windowState(rules.windows, now),
    versions: versionsOf(caches),
    touches,
    unwritten: by.unwritten?.get(rules.name)?.why,
    gaps: by.gaps?.measure() ?? [],
  };
}

/** The versions of the caches that the fleet is read from. */
export const versionsOf = ({ nodes, nodeConfigs }: Pick<Caches, 'nodes' | 'nodeConfigs'>): NonNullable<Facts['versions']> => ({
  nodesVersion: nodes.version,
  nodeConfigsVersion: nodeConfigs.version,
});

function payloadOf({ configMaps }: Caches, source: MaybeSource): Readonly<ConfigMap> | undefined {
  const found = source === null ? undefined : configMaps.get(`${source.namespace}/${source.name}`);
  return found?.metadata.uid === source?.uid ? found : undefined;
}

/** The older of two rollouts has the nodes that both select; of the same second, the one whose name comes first. A terminating rollout has none. */
export const hasPrecedenceOver = (other: Readonly<NodeConfigRollout>, than: Readonly<NodeConfigRollout>): boolean =>
  other.metadata.deletionTimestamp === undefined && isOlder(other, than);

/** The same, also for a terminating rollout. */
export function isOlder({ metadata: a }: Readonly<NodeConfigRollout>, { metadata: b }: Readonly<NodeConfigRollout>): boolean {
  const [atA, atB] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  return atA === atB ? (a.name ?? '') < (b.name ?? '') : atA < atB;
}
