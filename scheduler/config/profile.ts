import { filterNames, scoreWeights, type FilterName, type PluginName, type ScoreName } from '../plugins/names.ts';
import { DEFAULT_SCHEDULER_NAME } from './defaults.ts';
import { mustBeObjectName, type Mapping } from './mapping.ts';
import { readBalanced, readFit, readInterPod, readNodeAffinity, readSpread } from './plugin-args.ts';
import type { ProfileConfig } from './config.ts';

/** Sums of points stay small whole numbers. */
const HEAVIEST = 10_000;

/** Plugins of kube-scheduler that are something else here. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ['DefaultPreemption', 'it is `preemption`, at the top of the file'],
  ['SchedulingGates', 'it cannot be switched off'],
  ['PrioritySort', 'it cannot be switched off'],
  ['DefaultBinder', 'it cannot be switched off'],
  ['DynamicResources', 'this scheduler does not support it: pods that need it are left to another scheduler'],
]);

type Plugins = Pick<ProfileConfig, 'filters' | 'scores'>;

export function readProfile(written: Mapping): ProfileConfig {
  const schedulerName = written.text('schedulerName', DEFAULT_SCHEDULER_NAME, mustBeObjectName);
  if (written.whole('percentageOfNodesToScore', 0, { min: 0, max: 100 }) !== 0) written.warn('percentageOfNodesToScore', everyNodeIsScored);
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
  const enabled = written.flag('enabled', true);
  const weight = written.whole('weight', isScore(name) ? scoreWeights[name] : 0, { min: 0, max: HEAVIEST });
  if (written.has('weight') && weight > 0 && !isScore(name)) written.warn('weight', 'it has no effect: this plugin does not score nodes');
  else if (written.has('weight') && weight > 0 && !enabled) written.warn('weight', 'it has no effect: the plugin is not enabled');
  return { enabled, weight };
}

const readers = {
  NodeResourcesFit: readFit,
  NodeResourcesBalancedAllocation: readBalanced,
  NodeAffinity: readNodeAffinity,
  InterPodAffinity: readInterPod,
  PodTopologySpread: readSpread,
} as const satisfies Partial<Record<PluginName, (args: Mapping) => unknown>>;

function readArgs(written: Mapping, plugins: Plugins): Pick<ProfileConfig, 'fit' | 'balanced' | 'nodeAffinity' | 'interPod' | 'spread'> {
  const isOn = (name: keyof typeof readers): boolean => (isFilter(name) && plugins.filters.has(name)) || plugins.scores.has(name);
  const args = {
    fit: written.mapping('NodeResourcesFit', readers.NodeResourcesFit),
    balanced: written.mapping('NodeResourcesBalancedAllocation', readers.NodeResourcesBalancedAllocation),
    nodeAffinity: written.mapping('NodeAffinity', readers.NodeAffinity),
    interPod: written.mapping('InterPodAffinity', readers.InterPodAffinity),
    spread: written.mapping('PodTopologySpread', readers.PodTopologySpread),
  };
  for (const name of Object.keys(readers) as (keyof typeof readers)[])
    if (written.has(name) && !isOn(name)) written.warn(name, 'it has no effect: the plugin is not enabled');
  return args;
}

const scoreNames = Object.keys(scoreWeights) as ScoreName[];
const isFilter = (name: PluginName): name is FilterName => filterNames.some((filter) => filter === name);
const isScore = (name: PluginName): name is ScoreName => Object.hasOwn(scoreWeights, name);
