import type { Affinity, PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import { node, pod } from '../../builders.ts';
import { a, app, came, changed, fails, helps, left, namespace, newNode, noNode, testHints, turned, ZONE } from './hint-table.ts';

const t = { key: 't', effect: 'NoSchedule' };
const spread = (more: Partial<TopologySpreadConstraint> = {}) =>
  pod('a').spec({
    topologySpreadConstraints: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: app('a'), ...more }],
  });

const inY = () => node('n').zone('y');
const relabelled = (before: Record<string, string>, after: Record<string, string>) =>
  changed('labels', node('n').labels(before), node('n').labels(after));

testHints({
  PodTopologySpread: [
    helps('a pod that is counted came', spread(), came(a())),
    fails('a pod that is not counted came', spread(), came(pod('b'))),
    fails('such a pod came in another namespace', spread(), came(pod('other/b').labels({ app: 'a' }))),
    fails('a pod on its way out came', spread(), came(a().terminating())),
    helps('a pod that is counted left', spread(), left(a())),
    fails('a pod that was not counted left', spread(), left(pod('b'))),
    helps('a pod that is counted is on its way out', spread(), turned(a(), a().terminating())),
    fails('a pod that is not counted is on its way out', spread(), turned(pod('b'), pod('b').terminating())),
    helps('a pod came to be counted', spread(), turned(pod('b'), a())),
    fails('a pod that is counted has one more label', spread(), turned(a(), a().labels({ x: 'y' }))),
    fails('a pod that is counted asks for less', spread(), turned(a().cpu('2'), a().cpu('1'))),
    fails('the rule is a wish only', spread({ whenUnsatisfiable: 'ScheduleAnyway' }), came(a())),
    helps('a node is new in a zone', spread(), newNode(node('n').zone('z'))),
    fails('a node is new without a zone', spread(), newNode(node('n'))),
    fails('a node is new in a zone, but not one to count', spread().selects({ x: 'y' }), newNode(node('n').zone('z'))),
    helps('a node of a zone is gone', spread(), noNode(node('n').zone('z'))),
    fails('a node without a zone is gone', spread(), noNode(node('n'))),
    helps('a node is in another zone', spread(), changed('labels', node('n').zone('y'), node('n').zone('z'))),
    fails('a node has another label', spread(), changed('labels', node('n').zone('y'), node('n').zone('y').labels({ x: 'y' }))),
    helps('a node has a label that makes it count', spread().selects({ x: 'y' }), changed('labels', inY(), inY().labels({ x: 'y' }))),
    fails('a taint is gone that does not matter', spread(), changed('taints', node('n').zone('y').taints(t), node('n').zone('y'))),
    helps(
      'a taint is gone that kept a node from being counted',
      spread({ nodeTaintsPolicy: 'Honor' }),
      changed('taints', inY().taints(t), inY()),
    ),
  ],
});

const near = (term: Partial<PodAffinityTerm>, ...more: PodAffinityTerm[]): Affinity => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, ...term }, ...more] },
});
const away = (term: Partial<PodAffinityTerm>): Affinity => ({
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, ...term }] },
});

const friendly = (more: Partial<PodAffinityTerm> = {}, ...others: PodAffinityTerm[]) =>
  pod('a').affinity(near({ labelSelector: app('a'), ...more }, ...others));
const hostile = () => pod('a').affinity(away({ labelSelector: app('a') }));
const ofNamespaces = (matchLabels: Record<string, string>) => friendly({ namespaceSelector: { matchLabels } });
testHints({
  InterPodAffinity: [
    helps('a friend came', friendly(), came(a())),
    fails('somebody else came', friendly(), came(pod('b'))),
    fails('a friend of one term of two came', friendly({}, { topologyKey: 'rack', labelSelector: app('b') }), came(a())),
    fails('one like a friend came to another namespace', friendly(), came(pod('other/b').labels({ app: 'a' }))),
    helps('a friend came to a namespace that is meant', ofNamespaces({ stage: 'test' }), came(pod('tested/b').labels({ app: 'a' }))),
    fails('a friend came, but it keeps away from nobody', hostile(), came(a())),
    helps('somebody became a friend', friendly(), turned(pod('b'), a())),
    fails('a friend has one more label', friendly(), turned(a(), a().labels({ x: 'y' }))),
    fails('a friend is one no longer', friendly(), turned(a(), pod('b'))),
    helps('the last of its kind may have left', a().affinity(near({ labelSelector: app('a') })), left(a())),
    fails('a friend left, of another kind', friendly(), left(a())),
    helps('one it keeps away from left', hostile(), left(a())),
    helps('one it keeps away from is that no longer', hostile(), turned(a(), pod('b'))),
    fails('one became somebody to keep away from', hostile(), turned(pod('b'), a())),
    helps('one left that kept away from it', a(), left(pod('c').affinity(away({ labelSelector: app('a') })))),
    fails('one left that kept away from others', a(), left(pod('c').affinity(away({ labelSelector: app('c') })))),
    helps('a node is new', a(), newNode(node('n'))),
    fails('a node is new, in the domain of nobody it wants to be near to', friendly(), newNode(node('n'))),
    helps('a node is new, in a zone', friendly(), newNode(node('n').zone('z'))),
    fails('a node has a label that no domain goes by', a(), relabelled({ disk: 'hdd' }, { disk: 'ssd' })),
    helps('a node is in another zone of pods that keep away', a(), changed('labels', node('n').zone('y'), node('n').zone('z'))),
    helps(
      'a node is in another rack, by which the pod goes itself',
      friendly({ topologyKey: 'rack' }),
      relabelled({ rack: 'y' }, { rack: 'z' }),
    ),
    fails('a node has more room', a(), changed('allocatable', node('n').cpu('1'), node('n').cpu('2'))),
    helps('a node is gone with its pods', a(), noNode(node('n'))),
    helps('its namespace is called otherwise', a(), namespace('default', {}, { x: 'y' })),
    fails('its namespace is as it was', a(), namespace('default', { x: 'y' }, { x: 'y' })),
    helps('a namespace came to be meant', ofNamespaces({ x: 'y' }), namespace('other', {}, { x: 'y' })),
    fails('a namespace is not meant still', ofNamespaces({ x: 'y' }), namespace('other', {}, { x: 'z' })),
  ],
});
