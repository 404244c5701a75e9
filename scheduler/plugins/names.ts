/** Filters in the order in which a node is put to them: the first that refuses gives the reason. */
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

/** Filters of a profile that says nothing. One that kube-scheduler does not have is left out here: a profile enables it by its name. */
export const defaultFilters: readonly FilterName[] = filterNames;

/** Those that give points, and by default how much they count. */
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
 * What may have refused a pod: a plugin, the pod's own gates, an extender, its size (`PodLimits`), or that it needs a plugin which this scheduler does not have
 * (both in pod/pod-limits.ts).
 */
export type Rejector = FilterName | 'SchedulingGates' | 'Extender' | 'DynamicResources' | 'GangScheduling' | 'PodLimits';

/** Why a pod cannot be on a node, or on any. */
export interface Rejection {
  readonly plugin: FilterName;
  /** Whether taking pods away from the node could help. */
  readonly resolvable: boolean;
  /** As users read them; a node counts once for each. Never empty. */
  readonly reasons: readonly string[];
}
