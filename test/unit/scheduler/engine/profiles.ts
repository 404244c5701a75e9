import type { ProfileConfig } from '../../../../scheduler/config/config.ts';
import { filterNames, scoreWeights, type ScoreName } from '../../../../scheduler/plugins/names.ts';
import { plainProfile } from '../oracle/profile.ts';

const { strategy } = plainProfile.fit;
const shape = Object.entries({ 0: 10, 55: 100, 100: 0 }).map(([utilization, score]) => ({ utilization: Number(utilization), score }));
const resources = ['cpu', 'memory', 'example.com/gpu'].map((name, at) => ({ name, weight: at + 1 }));
const even = ['cpu', 'memory', 'ephemeral-storage', 'example.com/gpu'].map((name) => ({ name, weight: 1 }));

/** Profiles that differ in one respect each. Mostly the first is asked. */
export const profiles: readonly ProfileConfig[] = [
  plainProfile,
  otherwise('most-allocated', { fit: { ...plainProfile.fit, strategy: { ...strategy, type: 'MostAllocated' } } }),
  otherwise('ratio', { fit: { ...plainProfile.fit, strategy: { ...strategy, type: 'RequestedToCapacityRatio', shape } } }),
  otherwise('scalars', {
    fit: { ...plainProfile.fit, strategy: { ...strategy, resources } },
    balanced: { resources: even, points: 'balance' },
  }),
  otherwise('ignores', { fit: { ...plainProfile.fit, ignoredResources: new Set(['example.com/gpu']) } }),
  otherwise('ignores-group', { fit: { ...plainProfile.fit, ignoredResourceGroups: new Set(['example.com']) } }),
  otherwise('demands', {
    nodeAffinity: { addedAffinity: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'rack', operator: 'Exists' }] }] } },
  }),
  otherwise('own-spread', { spread: { defaults: [{ topologyKey: 'rack', maxSkew: 1 }] } }),
  otherwise('no-spread', { spread: { defaults: [] } }),
  otherwise('strong-wishes', { interPod: { hardPodAffinityWeight: 50, ignorePreferredTermsOfExistingPods: false } }),
  otherwise('few-wishes', { interPod: { hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: true } }),
  otherwise('weights', { scores: new Map(Object.keys(scoreWeights).map((name, at) => [name as ScoreName, at * at + 1])) }),
  otherwise('two-scores', { scores: new Map([['NodeResourcesFit', 1], ['InterPodAffinity', 7]]) }), // prettier-ignore
  ...filterNames
    .filter((name) => !/Volume/.test(name))
    .map((name) => otherwise(`no-${name}`, { filters: new Set(filterNames.filter((other) => other !== name)) })),
];

function otherwise(schedulerName: string, more: Partial<ProfileConfig>): ProfileConfig {
  return { ...plainProfile, ...more, schedulerName };
}
