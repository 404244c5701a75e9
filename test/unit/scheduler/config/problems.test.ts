import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { parseSchedulerConfig, readSchedulerConfig, type ConfigRead } from '../../../../scheduler/config/parse.ts';

const problemsOf = (read: ConfigRead): string[] => (read.ok ? [] : read.problems.map(({ path, message }) => `${path}: ${message}`));
const problems = (text: string): string[] => problemsOf(parseSchedulerConfig(text));

/** One wrong thing each: everything else is as it should be. */
const texts: { why: string; text: string; says: string }[] = [
  { why: 'is a list', text: '[]', says: ': it is a list; it must be a mapping of keys to values' },
  { why: 'has a key twice', text: 'api: {}\napi: {}', says: ': it is neither YAML nor JSON: Map keys must be unique at line 2, column 1:' },
  { why: "is kube-scheduler's file", text: 'kind: KubeSchedulerConfiguration', says: "kind: there is no such key: this file is not a KubeSchedulerConfiguration, although many keys have the same name" }, // prettier-ignore
  { why: 'has a key misspelt', text: 'podMaxBackofSeconds: 1', says: 'podMaxBackofSeconds: there is no such key; did you mean podMaxBackoffSeconds?' }, // prettier-ignore
  { why: 'has a key of nobody', text: 'api: {qps: 5}', says: 'api.qps: there is no such key; there are maxInflightBinds, maxInflightStatus, maxInflightEvents, pageSize' }, // prettier-ignore
  { why: 'has a plugin misspelt', text: 'profiles: [{}, {schedulerName: b, plugins: {NodePort: {}}}]', says: 'profiles[1].plugins.NodePort: there is no such key; did you mean NodePorts?' }, // prettier-ignore
];
for (const { why, text, says } of texts) test(`a text is refused that ${why}`, () => assert.deepEqual(problems(text), [says]));

const whole = (min: number, max: number): string => `it must be a whole number from ${min} to ${max}`;
const DURATION = 'it must be a Go duration above 0, such as 5s or 1m30s';
const USE = 'use `daemonSets: true` for DaemonSets';
const values: { at: string; is: string; says: string }[] = [
  { at: 'percentageOfNodesToScore', is: '101', says: `it is 101; ${whole(0, 100)}` },
  { at: 'podInitialBackoffSeconds', is: '1s', says: 'it is "1s"; it must be whole seconds, from 1 to 2000000' },
  { at: 'preemption.enabled', is: 'yes', says: 'it is "yes"; it must be true or false' },
  { at: 'reservation.reserveOn', is: 'upgrades', says: 'it is "upgrades"; it must be one of upgrade, recreate; did you mean upgrade?' },
  { at: 'reservation.ownerKinds', is: 'apps/StatefulSet', says: 'it is "apps/StatefulSet"; it must be a list' },
  { at: 'reservation.ownerKinds[0]', is: 'StatefulSet', says: 'it is "StatefulSet"; it must be GROUP/KIND, such as apps/StatefulSet' },
  { at: 'reservation.ownerKinds[0]', is: 'apps/DaemonSet', says: `it is "apps/DaemonSet"; it must be removed: ${USE}` },
  { at: 'reservation.ownerKinds[0]', is: 'apps/ReplicaSet', says: 'it is "apps/ReplicaSet"; it must be removed: their new pods have other names and are created before the old ones are deleted' }, // prettier-ignore
  { at: 'reservation.ownerKinds[1]', is: 'apps/StatefulSet', says: 'it is "apps/StatefulSet", which is there already; leave it out' },
  { at: 'compat.taintMessage', is: '1.20', says: 'it is 1.2; it must be one of 1.34, head' },
  { at: 'leaderElection.leaseDuration', is: '15', says: `it is 15; ${DURATION}` },
  { at: 'leaderElection.renewDeadline', is: '2400ms', says: 'it must be longer than 1.2 times retryPeriod' },
  { at: 'extenders[0].urlPrefix', is: 'e:8888', says: 'it is "e:8888"; it must be a URL, such as https://extender.example:8888/v1' },
  { at: 'extenders[0].managedResources[0].name', is: 'cpu', says: 'it is "cpu"; it must be the name of a resource with a domain prefix, such as example.com/gpu' }, // prettier-ignore
];

/** A configuration with this value at this path, and nothing else in it but what an extender cannot be without. */
function withValue(path: string, value: unknown): unknown {
  const [, head = '', list, tail] = /^(\w+)((?:\[\d\])?)(?:\.(.+))?$/.exec(path) ?? [];
  const inner = tail === undefined ? value : withValue(tail, value);
  if (!list) return { [head]: inner };
  const beside = head === 'extenders' ? { urlPrefix: 'http://e', filterVerb: 'f' } : {};
  const one = tail === undefined ? inner : { ...beside, ...(inner as object) };
  return { [head]: list === '[1]' ? [one, one] : [one] };
}
for (const { at, is, says } of values)
  test(`${at} is not ${is}`, () => assert.deepEqual(problemsOf(readSchedulerConfig(withValue(at, parse(is)))), [`${at}: ${says}`]));

const fit = (text: string): string => `profiles: [{pluginArgs: {NodeResourcesFit: {${text}}}}]`;
const strategy = 'profiles[0].pluginArgs.NodeResourcesFit.scoringStrategy';
const shape = (points: string): string =>
  fit(`scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [${points}]}}`);
const spread = (text: string): string => `profiles: [{pluginArgs: {PodTopologySpread: {${text}}}}]`;
const constraint = 'profiles[0].pluginArgs.PodTopologySpread.defaultConstraints';
const affinity = (terms: string): string =>
  `profiles: [{pluginArgs: {NodeAffinity: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ${terms}}}}}}]`;
const terms = 'profiles[0].pluginArgs.NodeAffinity.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
const tls = (text: string): string => `extenders: [{urlPrefix: 'https://e', filterVerb: f, tlsConfig: {${text}}}]`;
const together: { why: string; text: string; says: string[] }[] = [
  { why: 'two profiles have one name', text: 'profiles: [{}, {schedulerName: default-scheduler}]', says: ['profiles[1].schedulerName: it is "default-scheduler", which another profile uses already'] }, // prettier-ignore
  { why: 'two extenders manage one resource', text: "extenders: [{urlPrefix: 'http://e', filterVerb: f, managedResources: [{name: x.org/a}, {name: x.org/a}]}, {urlPrefix: 'http://f', filterVerb: f, managedResources: [{name: x.org/b}, {name: x.org/a}]}]", says: ['extenders[0].managedResources[1].name: it is "x.org/a", which extenders[0] manages already; one extender manages a resource', 'extenders[1].managedResources[1].name: it is "x.org/a", which extenders[0] manages already; one extender manages a resource'] }, // prettier-ignore
  { why: 'placeholder pods have no image', text: 'reservation: {mirror: true, mirrorImage: null}', says: ['reservation.mirrorImage: it is missing, and mirror is true; name an image that does nothing and that every node can pull, such as the pause image of your cluster'] }, // prettier-ignore
  { why: 'the longest wait is shorter than the first', text: 'podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 4', says: ['podMaxBackoffSeconds: it is 4; it must not be less than podInitialBackoffSeconds'] }, // prettier-ignore
  { why: 'weights of resources are out of bounds', text: fit('scoringStrategy: {resources: [{name: cpu, weight: 0}, {name: memory, weight: 101}]}'), says: [`${strategy}.resources[0].weight: it is 0; ${whole(1, 100)}`, `${strategy}.resources[1].weight: it is 101; ${whole(1, 100)}`] }, // prettier-ignore
  { why: 'a resource comes twice, or has no name', text: fit('scoringStrategy: {resources: [{name: cpu}, {name: cpu}, {}]}'), says: [`${strategy}.resources[1].name: it is "cpu", which is there already; leave it out`, `${strategy}.resources[2].name: it is missing`] }, // prettier-ignore
  { why: 'a shape goes back', text: shape('{utilization: 5, score: 1}, {utilization: 5, score: 2}'), says: [`${strategy}.requestedToCapacityRatio.shape[1].utilization: it is 5; it must be more than that of the previous point`] }, // prettier-ignore
  { why: 'default constraints forbid, select, or come twice', text: spread('defaultingType: List, defaultConstraints: [{topologyKey: a, maxSkew: 0, whenUnsatisfiable: DoNotSchedule}, {topologyKey: a, maxSkew: 1, labelSelector: {}}, {}]'), says: [`${constraint}[0].maxSkew: it is 0; ${whole(1, 1_000_000)}`, `${constraint}[0].whenUnsatisfiable: it is "DoNotSchedule"; it must be one of ScheduleAnyway`, `${constraint}[1].topologyKey: it is "a", which is there already; leave it out`, `${constraint}[1].labelSelector: there is no such key; there are topologyKey, maxSkew, whenUnsatisfiable`, `${constraint}[2].topologyKey: it is missing`, `${constraint}[2].maxSkew: it is missing`] }, // prettier-ignore
  { why: 'a bound has more than 64 bits, which no label can pass', text: affinity("[{matchExpressions: [{key: a, operator: Gt, values: ['9223372036854775808']}]}]"), says: [`${terms}[0].matchExpressions[0].values: it must be one whole number, in quotes, with operator Gt`] }, // prettier-ignore
  { why: 'a term matches nothing', text: affinity('[{}]'), says: [`${terms}[0]: it is empty and would match no node; set matchExpressions or matchFields`] }, // prettier-ignore
  { why: 'expressions have the wrong values', text: affinity("[{matchExpressions: [{key: a, operator: In}, {key: a, operator: Exists, values: [b]}, {key: a, operator: Lt, values: [b]}, {key: a, operator: NotIn, values: ['/']}, {key: '', operator: in, values: [a]}]}]"), says: [`${terms}[0].matchExpressions[0].values: it must have at least one value with operator In`, `${terms}[0].matchExpressions[1].values: it must be empty with operator Exists`, `${terms}[0].matchExpressions[2].values: it must be one whole number, in quotes, with operator Lt`, `${terms}[0].matchExpressions[3].values[0]: it is "/"; it must be the value of a label`, `${terms}[0].matchExpressions[4].key: it is ""; it must be a label key, such as topology.kubernetes.io/zone`, `${terms}[0].matchExpressions[4].operator: it is "in"; it must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt; did you mean In?`] }, // prettier-ignore
  { why: 'fields are none', text: affinity('[{matchFields: [{key: spec.x, operator: In, values: [a, b]}]}]'), says: [`${terms}[0].matchFields[0].key: it is "spec.x"; it must be one of metadata.name`, `${terms}[0].matchFields[0].values: it must be one node name; write one term per node`] }, // prettier-ignore
  { why: 'two extenders bind', text: "extenders: [{urlPrefix: 'http://e', filterVerb: f}, {urlPrefix: 'http://e', bindVerb: b}, {urlPrefix: 'http://e', bindVerb: b}]", says: ['extenders[2].bindVerb: only one extender can bind, and extenders[1] does already'] }, // prettier-ignore
  { why: 'a certificate has no key', text: tls('certFile: c'), says: ['extenders[0].tlsConfig.keyFile: it is missing: the certificate needs its key'] }, // prettier-ignore
  { why: 'an authority is not asked', text: tls('insecure: true, caFile: a'), says: ['extenders[0].tlsConfig.insecure: insecure and a CA (caFile, caData) cannot be combined; remove one'] }, // prettier-ignore
  { why: 'a key is none, which nobody repeats', text: tls('certFile: c, keyFile: k, keyData: c2VjcmV0'), says: ['extenders[0].tlsConfig.keyData: it must be base64-encoded PEM; or use the ...File key instead'] }, // prettier-ignore
];
for (const { why, text, says } of together) test(`a configuration is refused where ${why}`, () => assert.deepEqual(problems(text), says));
