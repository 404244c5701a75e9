import type { Affinity, PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import { node, pod } from '../../builders.ts';
import { a, app, came, changed, fails, helps, left, namespace, newNode, noNode, testHints, turned, ZONE } from './hint-table.ts';

const t = { key: 't', effect: 'NoSchedule' };
const spread = (more: Partial<TopologySpreadConstraint> = {}) =>
  pod('a').spec({
    topologySpreadConstraints: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: app('a'), ...more }],
  });

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
    helps(
      'a node has a label that makes it count',
      spread().selects({ x: 'y' }),
      changed('labels', node('n').zone('y'), node('n').zone('y').labels({ x: 'y' })),
    ),
    fails('a taint is gone that does not matter', spread(), changed('taints', node('n').zone('y').taints(t), node('n').zone('y'))),
    helps(
      'a taint is gone that kept a node from being counted',
      spread({ nodeTaintsPolicy: 'Honor' }),
      changed('taints', node('n').zone('y').taints(t), node('n').zone('y')),
    ),
  ],
});

const near = (term: Partial<PodAffinityTerm>, ...more: PodAffinityTerm[]): Affinity => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, ...term }, ...more] },
});
const away = (term: Partial<PodAffinityTerm>): Affinity => ({
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, ...term }] },
});

testHints({
  InterPodAffinity: [
    helps('a friend came', pod('a').affinity(near({ labelSelector: app('a') })), came(a())),
    fails('somebody else came', pod('a').affinity(near({ labelSelector: app('a') })), came(pod('b'))),
    fails(
      'a friend of one term of two came',
      pod('a').affinity(near({ labelSelector: app('a') }, { topologyKey: 'rack', labelSelector: app('b') })),
      came(a()),
    ),
    fails(
      'a sameName of a friend came to another namespace',
      pod('a').affinity(near({ labelSelector: app('a') })),
      came(pod('other/b').labels({ app: 'a' })),
    ),
    helps(
      'a friend came to a namespace that is meant',
      pod('a').affinity(near({ labelSelector: app('a'), namespaceSelector: { matchLabels: { stage: 'test' } } })),
      came(pod('tested/b').labels({ app: 'a' })),
    ),
    fails('a friend came, but it keeps away from nobody', pod('a').affinity(away({ labelSelector: app('a') })), came(a())),
    helps('somebody became a friend', pod('a').affinity(near({ labelSelector: app('a') })), turned(pod('b'), a())),
    fails('a friend has one more label', pod('a').affinity(near({ labelSelector: app('a') })), turned(a(), a().labels({ x: 'y' }))),
    fails('a friend is one no longer', pod('a').affinity(near({ labelSelector: app('a') })), turned(a(), pod('b'))),
    helps('the last of its kind may have left', a().affinity(near({ labelSelector: app('a') })), left(a())),
    fails('a friend left, of another kind', pod('a').affinity(near({ labelSelector: app('a') })), left(a())),
    helps('one it keeps away from left', pod('a').affinity(away({ labelSelector: app('a') })), left(a())),
    helps('one it keeps away from is that no longer', pod('a').affinity(away({ labelSelector: app('a') })), turned(a(), pod('b'))),
    fails('one became somebody to keep away from', pod('a').affinity(away({ labelSelector: app('a') })), turned(pod('b'), a())),
    helps('one left that kept away from it', a(), left(pod('c').affinity(away({ labelSelector: app('a') })))),
    fails('one left that kept away from others', a(), left(pod('c').affinity(away({ labelSelector: app('c') })))),
    helps('a node is new', a(), newNode(node('n'))),
    fails(
      'a node is new, in the domain of nobody it wants to be near to',
      pod('a').affinity(near({ labelSelector: app('a') })),
      newNode(node('n')),
    ),
    helps('a node is new, in a zone', pod('a').affinity(near({ labelSelector: app('a') })), newNode(node('n').zone('z'))),
    fails(
      'a node has a label that no domain goes by',
      a(),
      changed('labels', node('n').labels({ disk: 'hdd' }), node('n').labels({ disk: 'ssd' })),
    ),
    helps('a node is in another zone of pods that keep away', a(), changed('labels', node('n').zone('y'), node('n').zone('z'))),
    helps(
      'a node is in another rack, by which the pod goes itself',
      pod('a').affinity(near({ topologyKey: 'rack', labelSelector: app('a') })),
      changed('labels', node('n').labels({ rack: 'y' }), node('n').labels({ rack: 'z' })),
    ),
    fails('a node has more room', a(), changed('allocatable', node('n').cpu('1'), node('n').cpu('2'))),
    helps('a node is gone with its pods', a(), noNode(node('n'))),
    helps('its namespace is called otherwise', a(), namespace('default', {}, { x: 'y' })),
    fails('its namespace is as it was', a(), namespace('default', { x: 'y' }, { x: 'y' })),
    helps(
      'a namespace came to be meant',
      pod('a').affinity(near({ labelSelector: app('a'), namespaceSelector: { matchLabels: { x: 'y' } } })),
      namespace('other', {}, { x: 'y' }),
    ),
    fails(
      'a namespace is not meant still',
      pod('a').affinity(near({ labelSelector: app('a'), namespaceSelector: { matchLabels: { x: 'y' } } })),
      namespace('other', {}, { x: 'z' }),
    ),
  ],
});
