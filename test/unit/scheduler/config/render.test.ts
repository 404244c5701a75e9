import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { parseSchedulerConfig, readSchedulerConfig } from '../../../../scheduler/config/parse.ts';
import { renderSchedulerConfig } from '../../../../scheduler/config/render.ts';
import { defaultFilters, filterNames } from '../../../../scheduler/plugins/names.ts';

const texts = [
  '',
  'leaderElection: {enabled: false, leaseName: x}\ncompat: {seed: 3}',
  'profiles: [{schedulerName: a, plugins: {TaintToleration: {weight: 0}, NodePorts: {enabled: false}, ImageLocality: {weight: 0}}}, {}]',
  'profiles: [{pluginArgs: {PodTopologySpread: {defaultingType: List}, NodeAffinity: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}}}]',
  'profiles: [{pluginArgs: {NodeResourcesFit: {scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 3, score: 7}]}}}}}]',
  'reservation: {mirror: true, mirrorImage: pause}',
  "extenders: [{urlPrefix: 'https://e', prioritizeVerb: p, httpTimeout: 1m, tlsConfig: {caFile: c}, managedResources: [{name: a.b/c, ignoredByScheduler: true}]}]",
];
for (const text of texts)
  test(`what is rendered is read as the same: ${text}`, () => {
    const first = parseSchedulerConfig(text);
    assert.ok(first.ok);
    const again = readSchedulerConfig(renderSchedulerConfig(first.config));
    assert.deepEqual(again.ok && again.config, first.config);
  });

test('the defaults are rendered with every key', () => {
  const { profiles, ...rest } = renderSchedulerConfig(defaultSchedulerConfig);
  assert.deepEqual(rest, {
    percentageOfNodesToScore: 0,
    podInitialBackoffSeconds: 1,
    podMaxBackoffSeconds: 10,
    unschedulableFlushSeconds: 300,
    assumeTtlSeconds: 0,
    volumeBindTimeoutSeconds: 600,
    preemption: { enabled: true, minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 100, async: true },
    extenders: [],
    reservation: {
      enabled: true,
      reserveOn: 'upgrade',
      placement: 'prefer',
      ttlSeconds: 60,
      claimedTtlSeconds: 300,
      upgradeFirst: true,
      ownerKinds: ['apps/StatefulSet'],
      daemonSets: false,
      persist: 'none',
      mirror: false,
      mirrorImage: null,
    },
    compat: { taintMessage: '1.34', scoreRange: 100, tieBreak: 'random', seed: null },
    api: { maxInflightBinds: 64, maxInflightStatus: 16, maxInflightEvents: 8, pageSize: 500 },
    leaderElection: {
      enabled: true,
      leaseName: 'dkc-scheduler',
      namespace: 'kube-system',
      leaseDuration: '15s',
      renewDeadline: '10s',
      retryPeriod: '2s',
    },
  });
  const resources = [{ name: 'cpu', weight: 1 }, { name: 'memory', weight: 1 }]; // prettier-ignore
  assert.deepEqual(profiles, [
    {
      schedulerName: 'default-scheduler',
      plugins: {
        ...Object.fromEntries(filterNames.map((name) => [name, { enabled: defaultFilters.includes(name) }])),
        TaintToleration: { enabled: true, weight: 3 },
        NodeAffinity: { enabled: true, weight: 2 },
        NodeResourcesFit: { enabled: true, weight: 1 },
        PodTopologySpread: { enabled: true, weight: 2 },
        InterPodAffinity: { enabled: true, weight: 2 },
        NodeResourcesBalancedAllocation: { enabled: true, weight: 1 },
        ImageLocality: { enabled: true, weight: 1 },
        VolumeBinding: { enabled: true, weight: 1 },
      },
      pluginArgs: {
        NodeResourcesFit: { scoringStrategy: { type: 'LeastAllocated', resources }, ignoredResources: [], ignoredResourceGroups: [] },
        NodeResourcesBalancedAllocation: { resources, points: 'improvement' },
        NodeAffinity: {},
        VolumeBinding: { shape: [] },
        InterPodAffinity: { hardPodAffinityWeight: 1, ignorePreferredTermsOfExistingPods: false },
        PodTopologySpread: { defaultingType: 'System', defaultConstraints: [] },
      },
    },
  ]);
});

test('keys of certificates are not shown', () => {
  const pem = Buffer.from('-----BEGIN X-----').toString('base64');
  const read = parseSchedulerConfig(`extenders: [{urlPrefix: 'https://e', filterVerb: f, tlsConfig: {certData: ${pem}, keyData: ${pem}}}]`);
  assert.ok(read.ok);
  const [extender] = renderSchedulerConfig(read.config)['extenders'] as { tlsConfig: object }[];
  assert.deepEqual(extender?.tlsConfig, { insecure: false, certData: pem, keyData: 'hidden' });
});
