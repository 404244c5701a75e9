/** Filters in the order in which they run: the first that rejects a node gives the reason. */
export const filterNames = [
  'NodeUnschedulable',
  'NodeName',
  'TaintToleration',
  'NodeAffinity',
  'NodePorts',
  'NodeResourcesFit',
  'VolumeRestrictions',
  'NodeVolumeLimits',
  'VolumeBinding',
  'VolumeZone',
  'PodTopologySpread',
  'InterPodAffinity',
  'NodeDeclaredFeatures',
] as const;

/** Filters of an empty profile. A filter that kube-scheduler does not have would be left out here: a profile enables it by its name. */
export const defaultFilters: readonly FilterName[] = filterNames;

/** Score plugins, with their default weights. */
export const scoreWeights = {
  NodeResourcesFit: 1,
  NodeResourcesBalancedAllocation: 1,
  ImageLocality: 1,
  VolumeBinding: 1,
  TaintToleration: 3,
  NodeAffinity: 2,
  PodTopologySpread: 2,
  InterPodAffinity: 2,
} as const;

export type FilterName = (typeof filterNames)[number];
export type ScoreName = keyof typeof scoreWeights;
export type PluginName = FilterName | ScoreName;

/**
 * What may reject a pod: a plugin, the pod's own gates, an extender, its size (`PodLimits`), or its need of a plugin that this scheduler does not have
 * (both in pod/pod-limits.ts).
 */
export type Rejector = FilterName | 'SchedulingGates' | 'Extender' | 'DynamicResources' | 'GangScheduling' | 'PodLimits';

/** Why a pod cannot be on a node, or on any. */
export interface Rejection {
  readonly plugin: FilterName;
  /** Whether preemption on the node could help. */
  readonly resolvable: boolean;
  /** Text for users; a node counts once for each. Never empty. */
  readonly reasons: readonly string[];
}
