import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultExtender, defaultProfile, defaultSchedulerConfig, type ExtenderConfig, type ProfileConfig, type SchedulerConfig } from '../../../../scheduler/config/config.ts'; // prettier-ignore
import { parseSchedulerConfig } from '../../../../scheduler/config/parse.ts';

function read(text: string): { config: SchedulerConfig; warnings: string[] } {
  const found = parseSchedulerConfig(text);
  if (!found.ok) throw new Error(found.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  return { config: found.config, warnings: found.warnings.map(({ path, message }) => `${path}: ${message}`) };
}

const normal = defaultSchedulerConfig;
const keys: [why: string, text: string, gives: Partial<SchedulerConfig>][] = [
  ['nothing at all', '', {}],
  ['whole seconds', 'podInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 2\nunschedulableFlushSeconds: 60\nvolumeBindTimeoutSeconds: 1',
    { initialBackoffMs: 2_000, maxBackoffMs: 2_000, unschedulableFlushMs: 60_000, volumeBindTimeoutMs: 1_000 }],
  ['a first wait longer than the longest by default', 'podInitialBackoffSeconds: 30', { initialBackoffMs: 30_000, maxBackoffMs: 30_000 }],
  ['settings of reservations', 'reservation:\n  reserveOn: recreate\n  placement: score\n  ttlSeconds: 1\n  claimedTtlSeconds: 10\n  upgradeFirst: false\n  ownerKinds: [apps/StatefulSet, apps.kruise.io/StatefulSet]\n  daemonSets: true\n  persist: annotation\n  mirror: true\n  mirrorImage: registry.example/pause:3.9',
    { reservation: { enabled: true, reserveOn: 'recreate', placement: 'score', ttlMs: 1_000, claimedTtlMs: 10_000, upgradeFirst: false, ownerKinds: new Set(['apps/StatefulSet', 'apps.kruise.io/StatefulSet']), daemonSets: true, persist: 'annotation', mirror: true, mirrorImage: 'registry.example/pause:3.9' } }],
  ['versions and ranges that look like numbers', 'compat: {taintMessage: 1.34, scoreRange: 10, tieBreak: random, seed: 7}',
    { compat: { taintMessage: '1.34', scoreRange: 10, tieBreak: 'random', seed: 7 } }],
  ['how much is under way', 'api: {maxInflightBinds: 1, maxInflightStatus: 2, maxInflightEvents: 3, pageSize: 4}',
    { api: { maxInflightBinds: 1, maxInflightStatus: 2, maxInflightEvents: 3, pageSize: 4 } }],
  ['nobody to be elected, and a lease all the same', 'leaderElection: {enabled: false, leaseName: a.b, namespace: ns, leaseDuration: 1m, renewDeadline: 1500ms, retryPeriod: 1s}',
    { leaderElection: { enabled: false, lease: { name: 'a.b', namespace: 'ns', leaseDurationMs: 60_000, renewDeadlineMs: 1_500, retryPeriodMs: 1_000 } } }],
]; // prettier-ignore
for (const [why, text, gives] of keys)
  test(`a configuration is read with ${why}`, () => assert.deepEqual(read(text), { config: { ...normal, ...gives }, warnings: [] }));

const weights = (over: Readonly<Record<string, number>>): ProfileConfig['scores'] =>
  new Map([...defaultProfile.scores].map(([name, weight]) => [name, over[name] ?? weight] as const).filter(([, weight]) => weight > 0));
const zone = 'topology.kubernetes.io/zone';
const matchExpressions = [
  { key: 'a', operator: 'In', values: ['b', ''] },
  { key: zone, operator: 'Exists' },
  { key: 'n', operator: 'Gt', values: ['3'] },
];
const matchFields = [{ key: 'metadata.name', operator: 'NotIn', values: ['node-a'] }];
const profiles: [why: string, text: string, gives: Partial<ProfileConfig>][] = [
  ['a plugin that does neither', 'plugins: {TaintToleration: {enabled: false}}',
    { scores: weights({ TaintToleration: 0 }), filters: new Set([...defaultProfile.filters].filter((name) => name !== 'TaintToleration')) }],
  ['full nodes first', 'pluginArgs: {NodeResourcesFit: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu}, {name: example.com/gpu, weight: 100}]}}}',
    { fit: { ...defaultProfile.fit, strategy: { type: 'MostAllocated', resources: [{ name: 'cpu', weight: 1 }, { name: 'example.com/gpu', weight: 100 }], shape: [] } } }],
  ['a shape of 0 to 10, which is counted as 0 to 100', 'pluginArgs: {NodeResourcesFit: {scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 70, score: 10}]}}}}',
    { fit: { ...defaultProfile.fit, strategy: { ...defaultProfile.fit.strategy, type: 'RequestedToCapacityRatio', shape: [{ utilization: 0, score: 0 }, { utilization: 70, score: 100 }] } } }],
  ['affinity for everybody', `pluginArgs: {NodeAffinity: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
      {matchExpressions: [{key: a, operator: In, values: [b, '']}, {key: ${zone}, operator: Exists}, {key: n, operator: Gt, values: ['3']}]},
      {matchFields: [{key: metadata.name, operator: NotIn, values: [node-a]}]}]}}}}`,
    { nodeAffinity: { addedAffinity: { nodeSelectorTerms: [{ matchExpressions }, { matchFields }] } } }],
  ['default constraints of its own', `pluginArgs: {PodTopologySpread: {defaultingType: List, defaultConstraints: [{topologyKey: ${zone}, maxSkew: 2, whenUnsatisfiable: ScheduleAnyway}]}}`,
    { spread: { defaults: [{ topologyKey: zone, maxSkew: 2 }] } }],
]; // prettier-ignore
for (const [why, text, gives] of profiles)
  test(`a profile is read with ${why}`, () => {
    const profile = { schedulerName: 'default-scheduler', ...defaultProfile, ...gives };
    const { config, warnings } = read(`profiles:\n- {${text}}`);
    assert.deepEqual([config, warnings], [{ ...normal, profiles: new Map([[profile.schedulerName, profile]]) }, []]);
  });

const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n';
const packed = Buffer.from(pem).toString('base64');
const url = 'http://127.0.0.1:8888/scheduler';
const extenders: [why: string, text: string, gives: Partial<ExtenderConfig>][] = [
  ['all that kube-scheduler has for one', `{urlPrefix: 'https://e/', filterVerb: f, prioritizeVerb: p, bindVerb: b, preemptVerb: v, weight: 5, enableHTTPS: true, httpTimeout: 1.5s, nodeCacheCapable: true, ignorable: true,
      tlsConfig: {serverName: s, certFile: c, keyFile: k, caFile: a}, managedResources: [{name: example.com/gpu}]}`,
    { urlPrefix: 'https://e/', filterVerb: 'f', prioritizeVerb: 'p', bindVerb: 'b', preemptVerb: 'v', weight: 5, enableHttps: true, httpTimeoutMs: 1_500, nodeCacheCapable: true, ignorable: true, tls: { ...defaultExtender.tls, serverName: 's', certFile: 'c', keyFile: 'k', caFile: 'a' }, managedResources: [{ name: 'example.com/gpu', ignoredByScheduler: false }] }],
  ['certificates in the file itself', `{urlPrefix: 'https://e', filterVerb: f, tlsConfig: {certData: ${packed}, keyData: ${packed}, caData: ${packed}}}`,
    { urlPrefix: 'https://e', filterVerb: 'f', tls: { ...defaultExtender.tls, certData: pem, keyData: pem, caData: pem } }],
]; // prettier-ignore
for (const [why, text, gives] of extenders)
  test(`an extender is read with ${why}`, () => {
    const { config, warnings } = read(`extenders:\n- ${text}`);
    assert.deepEqual([config, warnings], [{ ...normal, extenders: [{ urlPrefix: url, ...defaultExtender, ...gives }] }, []]);
  });

test('resources that only an extender counts are ignored by every profile', () => {
  const { config } = read(`profiles: [{schedulerName: a, pluginArgs: {NodeResourcesFit: {ignoredResources: [x.org/b]}}}, {schedulerName: b}]
extenders: [{urlPrefix: '${url}', filterVerb: f, managedResources: [{name: x.org/a, ignoredByScheduler: true}, {name: x.org/c}]}]`);
  const ignored = [...config.profiles.values()].map(({ fit }) => [...fit.ignoredResources]);
  assert.deepEqual(ignored, [['x.org/b', 'x.org/a'], ['x.org/a']]);
});

const args = (plugin: string, text: string): string => `profiles: [{pluginArgs: {${plugin}: {${text}}}}]`;
const warned: [why: string, text: string, says: string[]][] = [
  ['an image that nothing is made of', 'reservation: {mirrorImage: pause}', ['reservation.mirrorImage: it has no effect unless mirror is true']],
  ['sampling', 'percentageOfNodesToScore: 50\nprofiles: [{percentageOfNodesToScore: 1}]',
    ['profiles[0].percentageOfNodesToScore: it has no effect: every node is scored', 'percentageOfNodesToScore: it has no effect: every node is scored']],
  ['a weight where there are no points', 'profiles: [{plugins: {NodePorts: {weight: 2}}}]',
    ['profiles[0].plugins.NodePorts.weight: it has no effect: this plugin does not score nodes']],
  ['arguments of a plugin that is off', 'profiles: [{plugins: {NodeAffinity: {enabled: false}}, pluginArgs: {NodeAffinity: {}}}]',
    ['profiles[0].pluginArgs.NodeAffinity: it has no effect: the plugin is not enabled']],
  ['a shape that is not used', args('NodeResourcesFit', 'scoringStrategy: {requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}]}}'),
    ['profiles[0].pluginArgs.NodeResourcesFit.scoringStrategy.requestedToCapacityRatio.shape: it has no effect unless the type is RequestedToCapacityRatio']],
  ['a weight for storage without points', 'profiles: [{plugins: {VolumeBinding: {weight: 2}}}]',
    ['profiles[0].pluginArgs.VolumeBinding.shape: it is empty: the weight of VolumeBinding has no effect']],
  ['weights of being even', args('NodeResourcesBalancedAllocation', 'resources: [{name: cpu, weight: 2}]'),
    ['profiles[0].pluginArgs.NodeResourcesBalancedAllocation.resources[0].weight: it has no effect: balanced allocation weighs all resources equally']],
  ['an extender that is asked nothing', `extenders: [{urlPrefix: '${url}'}]`,
    ['extenders[0]: it has no effect: the extender needs at least one of filterVerb, prioritizeVerb, bindVerb, preemptVerb']],
  ['TLS without TLS', `extenders: [{urlPrefix: '${url}', filterVerb: f, enableHTTPS: true, tlsConfig: {insecure: true}}]`,
    ['extenders[0].enableHTTPS: it has no effect: urlPrefix begins with http://', 'extenders[0].tlsConfig: it has no effect: urlPrefix begins with http://']],
  ['TLS that trusts anybody', "extenders: [{urlPrefix: 'https://e', filterVerb: f, enableHTTPS: true}]",
    ['extenders[0].tlsConfig: no CA is set (caFile, caData): with enableHTTPS any certificate is trusted']],
  ['reservations for no kind of owner', 'reservation: {ownerKinds: []}', ['reservation.ownerKinds: it is empty: nothing is ever reserved']],
  ['a seed of nothing', 'compat: {tieBreak: roundRobin, seed: 1}', ['compat.seed: it has no effect unless tieBreak is random']],
]; // prettier-ignore
for (const [why, text, says] of warned)
  test(`a configuration is taken with a word about ${why}`, () => assert.deepEqual(read(text).warnings, says));
