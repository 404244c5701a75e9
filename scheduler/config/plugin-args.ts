import { defaultProfile } from './defaults.ts';
import { mustBeDomain, mustBeLabelKey, mustBeResource } from './must-be.ts';
import { readNodeSelector } from './node-selector.ts';
import type { DefaultConstraint, ProfileConfig, ResourceWeight, ScoringStrategy, ShapePoint } from './config.ts';
import type { Mapping } from './mapping.ts';

const strategies = ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'] as const;

/** What the file gives the fullest points of, and what the plugins count in. */
const SHAPE_SCORES = 10;
const POINTS_OF_SHAPE = 100 / SHAPE_SCORES;

export function readFit(args: Mapping): ProfileConfig['fit'] {
  return {
    strategy: args.mapping('scoringStrategy', readStrategy),
    ignoredResources: new Set(args.texts('ignoredResources', mustBeResource) ?? []),
    ignoredResourceGroups: new Set(args.texts('ignoredResourceGroups', mustBeDomain) ?? []),
  };
}

function readStrategy(written: Mapping): ScoringStrategy {
  const normal = defaultProfile.fit.strategy;
  const type = written.choice('type', normal.type, strategies);
  const resources = readResources(written) ?? normal.resources;
  const isRatio = type === 'RequestedToCapacityRatio';
  const shape = written.mapping('requestedToCapacityRatio', (ratio) => {
    const points = ratio.mappings('shape', readPoint) ?? [];
    judgeShape(ratio, points, isRatio);
    return points;
  });
  return { type, resources, shape: isRatio ? shape : [] };
}

function readPoint(written: Mapping): ShapePoint {
  written.requires('utilization', 'score');
  const utilization = written.whole('utilization', 0, { min: 0, max: 100 });
  return { utilization, score: written.whole('score', 0, { min: 0, max: SHAPE_SCORES }) * POINTS_OF_SHAPE };
}

function judgeShape(ratio: Mapping, points: readonly ShapePoint[], isUsed: boolean): void {
  if (!isUsed && points.length > 0) ratio.warn('shape', 'it has no effect unless the type is RequestedToCapacityRatio');
  if (isUsed && points.length === 0) ratio.problem('shape', 'it must have a point or more for type RequestedToCapacityRatio');
  const falls = points.findIndex(({ utilization }, at) => utilization <= (points[at - 1]?.utilization ?? -1));
  if (falls >= 0)
    ratio.problem(`shape[${falls}].utilization`, `it is ${points[falls]?.utilization}; it must be more than that of the point before`);
}

/** `resources: [{name, weight}]` with weights of 1 to 100. */
function readResources(written: Mapping): ResourceWeight[] | undefined {
  const seen = new Set<string>();
  const resources = written.mappings('resources', (one) => {
    one.requires('name');
    const name = one.text('name', '', mustBeResource);
    if (name !== '' && seen.has(name)) one.problem('name', `it is ${JSON.stringify(name)}, which is there already; leave it out`);
    seen.add(name);
    return { name, weight: one.whole('weight', 1, { min: 1, max: 100 }) };
  });
  if (resources?.length === 0) written.problem('resources', 'it is empty; name a resource or leave the key out');
  return resources;
}

export function readBalanced(args: Mapping): ProfileConfig['balanced'] {
  const resources = readResources(args);
  resources?.forEach(({ weight }, at) => {
    if (weight !== 1) args.warn(`resources[${at}].weight`, 'it has no effect: how evenly a node is filled counts all resources alike');
  });
  return { resources: resources ?? defaultProfile.balanced.resources };
}

export function readNodeAffinity(args: Mapping): ProfileConfig['nodeAffinity'] {
  if (!args.has('addedAffinity')) return defaultProfile.nodeAffinity;
  return {
    addedAffinity: args.mapping('addedAffinity', (affinity) => {
      const key = 'requiredDuringSchedulingIgnoredDuringExecution';
      affinity.requires(key);
      return affinity.has(key) ? affinity.mapping(key, readNodeSelector) : { nodeSelectorTerms: [] };
    }),
  };
}

export function readInterPod(args: Mapping): ProfileConfig['interPod'] {
  const normal = defaultProfile.interPod;
  return {
    hardPodAffinityWeight: args.whole('hardPodAffinityWeight', normal.hardPodAffinityWeight, { min: 0, max: 100 }),
    ignorePreferredTermsOfExistingPods: args.flag('ignorePreferredTermsOfExistingPods', normal.ignorePreferredTermsOfExistingPods),
  };
}

export function readSpread(args: Mapping): ProfileConfig['spread'] {
  const type = args.choice('defaultingType', 'System', ['System', 'List']);
  const seen = new Set<string>();
  const constraints = args.mappings('defaultConstraints', (one) => readConstraint(one, seen)) ?? [];
  if (type === 'List') return { defaults: constraints };
  if (constraints.length > 0) args.problem('defaultConstraints', 'it must be empty unless defaultingType is List');
  return defaultProfile.spread;
}

function readConstraint(written: Mapping, seen: Set<string>): DefaultConstraint {
  written.requires('topologyKey', 'maxSkew');
  const topologyKey = written.text('topologyKey', '', mustBeLabelKey);
  if (topologyKey !== '' && seen.has(topologyKey)) written.problem('topologyKey', `it is ${JSON.stringify(topologyKey)}, which is there already; leave it out`); // prettier-ignore
  seen.add(topologyKey);
  const maxSkew = written.whole('maxSkew', 1, { min: 1, max: 1_000_000 });
  // Defaults give points alone: a rule that forbids is for the pod itself to have.
  written.choice('whenUnsatisfiable', 'ScheduleAnyway', ['ScheduleAnyway']);
  return { topologyKey, maxSkew };
}
