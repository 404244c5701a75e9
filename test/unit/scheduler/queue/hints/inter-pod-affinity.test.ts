import type { Affinity, PodAffinityTerm } from 'kubernetes-types/core/v1.js';
import { node, pod } from '../../builders.ts';
import { a, app, came, changed, left, namespace, newNode, noNode, testHints, turned, ZONE } from './hint-table.ts';

const near = (term: Partial<PodAffinityTerm>, ...more: PodAffinityTerm[]): Affinity => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, ...term }, ...more] },
});
const away = (term: Partial<PodAffinityTerm>): Affinity => ({
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, ...term }] },
});

testHints({
  InterPodAffinity: [
    { why: 'a friend came', pod: pod('a').affinity(near({ labelSelector: app('a') })), event: came(a()), yes: true },
    { why: 'somebody else came', pod: pod('a').affinity(near({ labelSelector: app('a') })), event: came(pod('b')), yes: false },
    {
      why: 'a friend of one term of two came',
      pod: pod('a').affinity(near({ labelSelector: app('a') }, { topologyKey: 'rack', labelSelector: app('b') })),
      event: came(a()),
      yes: false,
    },
    {
      why: 'a sameName of a friend came to another namespace',
      pod: pod('a').affinity(near({ labelSelector: app('a') })),
      event: came(pod('other/b').labels({ app: 'a' })),
      yes: false,
    },
    {
      why: 'a friend came to a namespace that is meant',
      pod: pod('a').affinity(near({ labelSelector: app('a'), namespaceSelector: { matchLabels: { stage: 'test' } } })),
      event: came(pod('tested/b').labels({ app: 'a' })),
      yes: true,
    },
    {
      why: 'a friend came, but it keeps away from nobody',
      pod: pod('a').affinity(away({ labelSelector: app('a') })),
      event: came(a()),
      yes: false,
    },
    { why: 'somebody became a friend', pod: pod('a').affinity(near({ labelSelector: app('a') })), event: turned(pod('b'), a()), yes: true },
    {
      why: 'a friend has one more label',
      pod: pod('a').affinity(near({ labelSelector: app('a') })),
      event: turned(a(), a().labels({ x: 'y' })),
      yes: false,
    },
    {
      why: 'a friend is one no longer',
      pod: pod('a').affinity(near({ labelSelector: app('a') })),
      event: turned(a(), pod('b')),
      yes: false,
    },
    { why: 'the last of its kind may have left', pod: a().affinity(near({ labelSelector: app('a') })), event: left(a()), yes: true },
    { why: 'a friend left, of another kind', pod: pod('a').affinity(near({ labelSelector: app('a') })), event: left(a()), yes: false },
    { why: 'one it keeps away from left', pod: pod('a').affinity(away({ labelSelector: app('a') })), event: left(a()), yes: true },
    {
      why: 'one it keeps away from is that no longer',
      pod: pod('a').affinity(away({ labelSelector: app('a') })),
      event: turned(a(), pod('b')),
      yes: true,
    },
    {
      why: 'one became somebody to keep away from',
      pod: pod('a').affinity(away({ labelSelector: app('a') })),
      event: turned(pod('b'), a()),
      yes: false,
    },
    { why: 'one left that kept away from it', pod: a(), event: left(pod('c').affinity(away({ labelSelector: app('a') }))), yes: true },
    { why: 'one left that kept away from others', pod: a(), event: left(pod('c').affinity(away({ labelSelector: app('c') }))), yes: false },
    { why: 'a node is new', pod: a(), event: newNode(node('n')), yes: true },
    {
      why: 'a node is new, in the domain of nobody it wants to be near to',
      pod: pod('a').affinity(near({ labelSelector: app('a') })),
      event: newNode(node('n')),
      yes: false,
    },
    {
      why: 'a node is new, in a zone',
      pod: pod('a').affinity(near({ labelSelector: app('a') })),
      event: newNode(node('n').zone('z')),
      yes: true,
    },
    { why: 'a node is in another zone', pod: a(), event: changed('labels', node('n').zone('y'), node('n').zone('z')), yes: true },
    { why: 'a node has more room', pod: a(), event: changed('allocatable', node('n').cpu('1'), node('n').cpu('2')), yes: false },
    { why: 'a node is gone with its pods', pod: a(), event: noNode(node('n')), yes: true },
    { why: 'its namespace is called otherwise', pod: a(), event: namespace('default', {}, { x: 'y' }), yes: true },
    { why: 'its namespace is as it was', pod: a(), event: namespace('default', { x: 'y' }, { x: 'y' }), yes: false },
    {
      why: 'a namespace came to be meant',
      pod: pod('a').affinity(near({ labelSelector: app('a'), namespaceSelector: { matchLabels: { x: 'y' } } })),
      event: namespace('other', {}, { x: 'y' }),
      yes: true,
    },
    {
      why: 'a namespace is not meant still',
      pod: pod('a').affinity(near({ labelSelector: app('a'), namespaceSelector: { matchLabels: { x: 'y' } } })),
      event: namespace('other', {}, { x: 'z' }),
      yes: false,
    },
  ],
});
