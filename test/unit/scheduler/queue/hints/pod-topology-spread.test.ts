import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import { node, pod } from '../../builders.ts';
import { a, app, came, changed, left, newNode, noNode, testHints, turned, ZONE } from './hint-table.ts';

const t = { key: 't', effect: 'NoSchedule' };
const spread = (more: Partial<TopologySpreadConstraint> = {}) =>
  pod('a').spec({
    topologySpreadConstraints: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: app('a'), ...more }],
  });

testHints({
  PodTopologySpread: [
    { why: 'a pod that is counted came', pod: spread(), event: came(a()), yes: true },
    { why: 'a pod that is not counted came', pod: spread(), event: came(pod('b')), yes: false },
    { why: 'such a pod came in another namespace', pod: spread(), event: came(pod('other/b').labels({ app: 'a' })), yes: false },
    { why: 'a pod on its way out came', pod: spread(), event: came(a().terminating()), yes: false },
    { why: 'a pod that is counted left', pod: spread(), event: left(a()), yes: true },
    { why: 'a pod that was not counted left', pod: spread(), event: left(pod('b')), yes: false },
    { why: 'a pod that is counted is on its way out', pod: spread(), event: turned(a(), a().terminating()), yes: true },
    { why: 'a pod that is not counted is on its way out', pod: spread(), event: turned(pod('b'), pod('b').terminating()), yes: false },
    { why: 'a pod came to be counted', pod: spread(), event: turned(pod('b'), a()), yes: true },
    { why: 'a pod that is counted has one more label', pod: spread(), event: turned(a(), a().labels({ x: 'y' })), yes: false },
    { why: 'a pod that is counted asks for less', pod: spread(), event: turned(a().cpu('2'), a().cpu('1')), yes: false },
    { why: 'the rule is a wish only', pod: spread({ whenUnsatisfiable: 'ScheduleAnyway' }), event: came(a()), yes: false },
    { why: 'a node is new in a zone', pod: spread(), event: newNode(node('n').zone('z')), yes: true },
    { why: 'a node is new without a zone', pod: spread(), event: newNode(node('n')), yes: false },
    {
      why: 'a node is new in a zone, but not one to count',
      pod: spread().selects({ x: 'y' }),
      event: newNode(node('n').zone('z')),
      yes: false,
    },
    { why: 'a node of a zone is gone', pod: spread(), event: noNode(node('n').zone('z')), yes: true },
    { why: 'a node without a zone is gone', pod: spread(), event: noNode(node('n')), yes: false },
    { why: 'a node is in another zone', pod: spread(), event: changed('labels', node('n').zone('y'), node('n').zone('z')), yes: true },
    {
      why: 'a node has another label',
      pod: spread(),
      event: changed('labels', node('n').zone('y'), node('n').zone('y').labels({ x: 'y' })),
      yes: false,
    },
    {
      why: 'a node has a label that makes it count',
      pod: spread().selects({ x: 'y' }),
      event: changed('labels', node('n').zone('y'), node('n').zone('y').labels({ x: 'y' })),
      yes: true,
    },
    {
      why: 'a taint is gone that does not matter',
      pod: spread(),
      event: changed('taints', node('n').zone('y').taints(t), node('n').zone('y')),
      yes: false,
    },
    {
      why: 'a taint is gone that kept a node from being counted',
      pod: spread({ nodeTaintsPolicy: 'Honor' }),
      event: changed('taints', node('n').zone('y').taints(t), node('n').zone('y')),
      yes: true,
    },
  ],
});
