import { configMaps, nodes } from '../../kube/api/resources.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Informer } from '../../kube/cache/contract.ts';
import type { Runtime } from '../../kube/process/runtime.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';
import type { Node } from './drain/contract.ts';
import type { PrometheusServer } from './gates/servers.ts';
import { rolloutsLeftOn } from './maintenance.ts';
import type { ConfigMap } from './revision.ts';
import { rollouts, type Count, type NodeConfigRollout } from './types.ts';

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
  /** Nodes of the whole cluster that may be unavailable at once, over all rollouts. @default they have no such budget */
  maxUnavailable?: Count | undefined;
  /** That gates ask with credentials or an authority of their own. @default none */
  prometheusServers?: readonly PrometheusServer[] | undefined;
  /** Rollouts that are synced concurrently. @default 5 */
  workers?: number;
}

export const DEFAULT_NAMESPACE = 'dkc-system';

const nodeFields = [
  'metadata.labels',
  'metadata.annotations',
  'spec.configSource',
  'spec.unschedulable',
  'status.config',
  'status.nodeInfo.kubeletVersion',
  ...['type', 'status', 'reason', 'message'].map((field) => `status.conditions.${field}`),
];

/** Index of Nodes on which rollouts have left something. */
const WORKED_ON = 'worked-on-by-rollouts';
const isLeftOn = (node: Readonly<KubeObject>): string[] => (rolloutsLeftOn(node as Readonly<Node>).length > 0 ? [''] : []);

/** Nodes on which rollouts have left something. */
export const nodesWorkedOn = ({ nodes: of }: Pick<Caches, 'nodes'>): Readonly<Node>[] => of.indexed(WORKED_ON, '') as Readonly<Node>[];

/** Says which caches the controller needs. */
export function cachesOf({ informers }: Pick<Runtime, 'informers'>, { configMapNamespace = DEFAULT_NAMESPACE }: RolloutOptions): Caches {
  return {
    rollouts: informers.of<NodeConfigRollout>(rollouts, { fields: 'all' }),
    nodes: informers.of(nodes, { fields: nodeFields, indexes: { [WORKED_ON]: isLeftOn } }),
    nodeConfigs: informers.of(nodeConfigs, { fields: 'all' }),
    configMaps: informers.of<ConfigMap>(configMaps, { fields: 'all' }, { namespace: configMapNamespace }),
  };
}
