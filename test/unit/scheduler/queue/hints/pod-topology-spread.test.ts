import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import { node, pod } from '../../builders.ts';
import { a, app, came, changed, fails, helps, left, newNode, noNode, testHints, turned, ZONE } from './hint-table.ts';

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
