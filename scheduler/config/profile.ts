import { defaultFilters, type FilterName, filterNames, type PluginName, type ScoreName, scoreWeights } from '../plugins/names.ts';
import {
  DEFAULT_SCHEDULER_NAME,
  type DefaultConstraint,
  defaultProfile,
  type ProfileConfig,
  type ResourceWeight,
  type ScoringStrategy,
  type ShapePoint,
} from './config.ts';
import { labelInteger } from '../../kube/api/placement.ts';
import {
  type Mapping,
  mustBeDomain,
  mustBeLabelKey,
  mustBeLabelValue,
  mustBeObjectName,
  mustBeResource,
} from '../../kube/process/mapping.ts';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from 'kubernetes-types/core/v1.js';

/** Highest weight, so that sums of points stay small integers. */
const HEAVIEST = 10_000;

/** Plugins of kube-scheduler that are configured in another way here. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ['DefaultPreemption', 'set `preemption` at the top level of the file instead'],
  ['SchedulingGates', 'it cannot be switched off'],
  ['PrioritySort', 'it cannot be switched off'],
  ['DefaultBinder', 'it cannot be switched off'],
  ['DynamicResources', 'this scheduler does not support it: pods that need it are left to another scheduler'],
]);

type Plugins = Pick<ProfileConfig, 'filters' | 'scores'>;

export function readProfile(written: Mapping): ProfileConfig {
  const schedulerName = written.text('schedulerName', DEFAULT_SCHEDULER_NAME, mustBeObjectName);
  const percentage = written.whole('percentageOfNodesToScore', 0, { min: 0, max: 100 });
  if (percentage !== 0 && percentage !== 100) written.warn('percentageOfNodesToScore', everyNodeIsScored);
  const plugins = written.mapping('plugins', readPlugins);
  const args = written.mapping('pluginArgs', (all) => readArgs(all, plugins));
  return { schedulerName, ...plugins, ...args };
}

export const everyNodeIsScored = 'it has no effect: every node is scored';

function readPlugins(written: Mapping): Plugins {
  const filters = new Set<FilterName>();
  const scores = new Map<ScoreName, number>();
  for (const name of new Set<PluginName>([...filterNames, ...scoreNames])) {
    const { enabled, weight } = written.mapping(name, (plugin) => readPlugin(plugin, name));
    if (!enabled) continue;
    if (isFilter(name)) filters.add(name);
    if (isScore(name) && weight > 0) scores.set(name, weight);
  }
  for (const [name, where] of elsewhere)
    if (written.keys.includes(name)) {
      written.has(name);
      written.problem(name, where);
    }
  return { filters, scores };
}

function readPlugin(written: Mapping, name: PluginName): { enabled: boolean; weight: number } {
  const enabled = written.flag('enabled', !isFilter(name) || defaultFilters.includes(name));
  const weight = written.whole('weight', isScore(name) ? scoreWeights[name] : 0, { min: 0, max: HEAVIEST });
  if (written.has('weight') && weight > 0 && !isScore(name)) written.warn('weight', 'it has no effect: this plugin does not score nodes');
  else if (written.has('weight') && weight > 0 && !enabled) written.warn('weight', 'it has no effect: the plugin is not enabled');
  return { enabled, weight };
}

const readers = {
  NodeResourcesFit: readFit,
  NodeResourcesBalancedAllocation: readBalanced,
  NodeAffinity: readNodeAffinity,
  VolumeBinding: readVolumeBinding,
  InterPodAffinity: readInterPod,
  PodTopologySpread: readSpread,
} as const satisfies Partial<Record<PluginName, (args: Mapping) => unknown>>;

function readArgs(written: Mapping, plugins: Plugins): Omit<ProfileConfig, 'schedulerName' | keyof Plugins> {
  const isOn = (name: keyof typeof readers): boolean => (isFilter(name) && plugins.filters.has(name)) || plugins.scores.has(name);
  const args = {
    fit: written.mapping('NodeResourcesFit', readers.NodeResourcesFit),
    balanced: written.mapping('NodeResourcesBalancedAllocation', readers.NodeResourcesBalancedAllocation),
    nodeAffinity: written.mapping('NodeAffinity', readers.NodeAffinity),
    volumeBinding: written.mapping('VolumeBinding', readers.VolumeBinding),
    interPod: written.mapping('InterPodAffinity', readers.InterPodAffinity),
    spread: written.mapping('PodTopologySpread', readers.PodTopologySpread),
  };
  for (const name of Object.keys(readers) as (keyof typeof readers)[])
    if (written.has(name) && !isOn(name)) written.warn(name, 'it has no effect: the plugin is not enabled');
  const weight = plugins.scores.get('VolumeBinding') ?? scoreWeights.VolumeBinding;
  if (weight !== scoreWeights.VolumeBinding && args.volumeBinding.shape.length === 0)
    written.warn('VolumeBinding.shape', 'it is empty: the weight of VolumeBinding has no effect');
  return args;
}

const scoreNames = Object.keys(scoreWeights) as ScoreName[];
const isFilter = (name: PluginName): name is FilterName => filterNames.some((filter) => filter === name);
const isScore = (name: PluginName): name is ScoreName => Object.hasOwn(scoreWeights, name);

const strategies = ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'] as const;

/** Maximum score of a shape in the file; plugins use 0 to 100. */
const SHAPE_SCORES = 10;
const POINTS_OF_SHAPE = 100 / SHAPE_SCORES;

function readFit(args: Mapping): ProfileConfig['fit'] {
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
  if (isUsed && points.length === 0) ratio.problem('shape', 'type RequestedToCapacityRatio needs at least one point');
  mustRise(ratio, points);
}

function mustRise(written: Mapping, points: readonly ShapePoint[]): void {
  const falls = points.findIndex(({ utilization }, at) => utilization <= (points[at - 1]?.utilization ?? -1));
  if (falls >= 0)
    written.problem(`shape[${falls}].utilization`, `it is ${points[falls]?.utilization}; it must be more than that of the previous point`);
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

function readBalanced(args: Mapping): ProfileConfig['balanced'] {
  const resources = readResources(args);
  resources?.forEach(({ weight }, at) => {
    if (weight !== 1) args.warn(`resources[${at}].weight`, 'it has no effect: balanced allocation weighs all resources equally');
  });
  const normal = defaultProfile.balanced;
  return { resources: resources ?? normal.resources, points: args.choice('points', normal.points, ['improvement', 'balance']) };
}

function readNodeAffinity(args: Mapping): ProfileConfig['nodeAffinity'] {
  if (!args.has('addedAffinity')) return defaultProfile.nodeAffinity;
  return {
    addedAffinity: args.mapping('addedAffinity', (affinity) => {
      const key = 'requiredDuringSchedulingIgnoredDuringExecution';
      affinity.requires(key);
      return affinity.has(key) ? affinity.mapping(key, readNodeSelector) : { nodeSelectorTerms: [] };
    }),
  };
}

/** Without a shape nodes get no points for their storage: the default of kube-scheduler up to 1.36 (gate StorageCapacityScoring). */
function readVolumeBinding(args: Mapping): ProfileConfig['volumeBinding'] {
  const shape = args.mappings('shape', readPoint) ?? [];
  mustRise(args, shape);
  return { shape };
}

function readInterPod(args: Mapping): ProfileConfig['interPod'] {
  const normal = defaultProfile.interPod;
  return {
    hardPodAffinityWeight: args.whole('hardPodAffinityWeight', normal.hardPodAffinityWeight, { min: 0, max: 100 }),
    ignorePreferredTermsOfExistingPods: args.flag('ignorePreferredTermsOfExistingPods', normal.ignorePreferredTermsOfExistingPods),
  };
}

function readSpread(args: Mapping): ProfileConfig['spread'] {
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
  // Default constraints only score: a hard constraint must be in the pod itself.
  written.choice('whenUnsatisfiable', 'ScheduleAnyway', ['ScheduleAnyway']);
  return { topologyKey, maxSkew };
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const;
type Operator = (typeof operators)[number];

/** A node selector, validated like that of a pod: an invalid one would match no node, without any explanation. */
function readNodeSelector(written: Mapping): NodeSelector {
  const nodeSelectorTerms = written.mappings('nodeSelectorTerms', readTerm);
  if (nodeSelectorTerms === undefined || nodeSelectorTerms.length === 0)
    written.problem('nodeSelectorTerms', 'it must have at least one term');
  return { nodeSelectorTerms: nodeSelectorTerms ?? [] };
}

function readTerm(written: Mapping): NodeSelectorTerm {
  const matchExpressions = written.mappings('matchExpressions', readExpression);
  const matchFields = written.mappings('matchFields', readField);
  if ((matchExpressions?.length ?? 0) + (matchFields?.length ?? 0) === 0)
    written.findings.problem(written.path, 'it is empty and would match no node; set matchExpressions or matchFields');
  return { ...(matchExpressions ? { matchExpressions } : {}), ...(matchFields ? { matchFields } : {}) };
}

function readExpression(written: Mapping): NodeSelectorRequirement {
  written.requires('key', 'operator');
  const key = written.text('key', '', mustBeLabelKey);
  const operator = written.choice('operator', undefined, operators);
  const values = written.texts('values', mustBeLabelValue);
  const must = operator && valuesOf(operator, values ?? []);
  if (must !== undefined) written.problem('values', `it must ${must} with operator ${operator}`);
  return { key, operator: operator ?? '', ...(values ? { values } : {}) };
}

function valuesOf(operator: Operator, values: readonly string[]): string | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? undefined : 'have at least one value';
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? undefined : 'be empty';
    case 'Gt':
    case 'Lt':
      return values.length === 1 && labelInteger(values[0] ?? '') !== undefined ? undefined : 'be one whole number, in quotes,';
  }
}

/** The only field of a node that can be selected by is its name. */
function readField(written: Mapping): NodeSelectorRequirement {
  written.requires('key', 'operator');
  const key = written.choice('key', 'metadata.name', ['metadata.name']);
  const operator = written.choice('operator', 'In', ['In', 'NotIn']);
  const values = written.texts('values', mustBeObjectName) ?? [];
  if (values.length !== 1) written.problem('values', 'it must be one node name; write one term per node');
  return { key, operator, values };
}
