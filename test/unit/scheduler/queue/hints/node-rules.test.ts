import { node, pod } from '../../builders.ts';
import { came, changed, fails, helps, left, newNode, testHints } from './hint-table.ts';

const t = { key: 't', effect: 'NoSchedule' };

testHints({
  NodeName: [
    helps('a node is new', pod('a'), newNode(node('n'))),
    helps('its node is new', pod('a').on('n'), newNode(node('n'))),
    fails('another node is new', pod('a').on('m'), newNode(node('n'))),
    fails('a pod left', pod('a'), left(pod('b'))),
  ],
  NodeUnschedulable: [
    helps('a node is new', pod('a'), newNode(node('n'))),
    fails('a node is new, and cordoned', pod('a'), newNode(node('n').cordoned())),
    helps('a node is uncordoned', pod('a'), changed('taints', node('n').cordoned(), node('n'))),
    fails('a node is cordoned', pod('a'), changed('taints', node('n'), node('n').cordoned())),
    fails('a node was never cordoned', pod('a'), changed('labels', node('n'), node('n').labels({ x: 'y' }))),
    fails('the pod minds no cordon', pod('a').tolerates({ operator: 'Exists' }), changed('taints', node('n').cordoned(), node('n'))),
  ],
  TaintToleration: [
    helps('a node is new', pod('a'), newNode(node('n'))),
    fails('a node is new, and tainted', pod('a'), newNode(node('n').taints(t))),
    helps(
      'a node is new, with a taint that is tolerated',
      pod('a').tolerates({ key: 't', operator: 'Exists' }),
      newNode(node('n').taints(t)),
    ),
    helps('a taint is gone', pod('a'), changed('taints', node('n').taints(t), node('n'))),
    fails('one of two taints is gone', pod('a'), changed('taints', node('n').taints(t, { ...t, key: 'u' }), node('n').taints(t))),
    fails(
      'a taint is gone that was a wish only',
      pod('a'),
      changed('taints', node('n').taints({ ...t, effect: 'PreferNoSchedule' }), node('n')),
    ),
    fails('a taint came', pod('a'), changed('taints', node('n'), node('n').taints(t))),
    fails('a pod left', pod('a'), left(pod('b'))),
  ],
  NodeAffinity: [
    helps('a node is new, and matches', pod('a').selects({ x: 'y' }), newNode(node('n').labels({ x: 'y' }))),
    fails('a node is new, and does not match', pod('a').selects({ x: 'y' }), newNode(node('n'))),
    helps('a node matches now', pod('a').selects({ x: 'y' }), changed('labels', node('n'), node('n').labels({ x: 'y' }))),
    fails(
      'a node matched before',
      pod('a').selects({ x: 'y' }),
      changed('labels', node('n').labels({ x: 'y' }), node('n').labels({ x: 'y', z: '' })),
    ),
    fails('a node matches no longer', pod('a').selects({ x: 'y' }), changed('labels', node('n').labels({ x: 'y' }), node('n'))),
    fails('a node lacks what the profile asks for', pod('a').spec({ schedulerName: 'picky' }), newNode(node('n'))),
    helps(
      'a node has what the profile asks for',
      pod('a').spec({ schedulerName: 'picky' }),
      changed('labels', node('n'), node('n').labels({ good: '' })),
    ),
  ],
  NodePorts: [
    helps('a pod left with the port', pod('a').port(80), left(pod('b').port(80, 'TCP', '10.0.0.1'))),
    fails('a pod left with another port', pod('a').port(80), left(pod('b').port(81))),
    fails('a pod left with the port of another protocol', pod('a').port(80), left(pod('b').port(80, 'UDP'))),
    fails('a pod left with the port at another address', pod('a').port(80, 'TCP', '10.0.0.2'), left(pod('b').port(80, 'TCP', '10.0.0.1'))),
    helps('a node is new', pod('a').port(80), newNode(node('n'))),
    fails('a node is other', pod('a').port(80), changed('labels', node('n'), node('n').labels({ x: 'y' }))),
    fails('a pod came', pod('a').port(80), came(pod('b').port(80))),
  ],
});
