import { node, pod } from '../../builders.ts';
import { came, changed, left, newNode, testHints } from './hint-table.ts';

const t = { key: 't', effect: 'NoSchedule' };

testHints({
  NodeName: [
    { why: 'a node is new', pod: pod('a'), event: newNode(node('n')), yes: true },
    { why: 'its node is new', pod: pod('a').on('n'), event: newNode(node('n')), yes: true },
    { why: 'another node is new', pod: pod('a').on('m'), event: newNode(node('n')), yes: false },
    { why: 'a pod left', pod: pod('a'), event: left(pod('b')), yes: false },
  ],
  NodeUnschedulable: [
    { why: 'a node is new', pod: pod('a'), event: newNode(node('n')), yes: true },
    { why: 'a node is new, and cordoned', pod: pod('a'), event: newNode(node('n').cordoned()), yes: false },
    { why: 'a node is uncordoned', pod: pod('a'), event: changed('taints', node('n').cordoned(), node('n')), yes: true },
    { why: 'a node is cordoned', pod: pod('a'), event: changed('taints', node('n'), node('n').cordoned()), yes: false },
    { why: 'a node was never cordoned', pod: pod('a'), event: changed('labels', node('n'), node('n').labels({ x: 'y' })), yes: false },
    {
      why: 'the pod minds no cordon',
      pod: pod('a').tolerates({ operator: 'Exists' }),
      event: changed('taints', node('n').cordoned(), node('n')),
      yes: false,
    },
  ],
  TaintToleration: [
    { why: 'a node is new', pod: pod('a'), event: newNode(node('n')), yes: true },
    { why: 'a node is new, and tainted', pod: pod('a'), event: newNode(node('n').taints(t)), yes: false },
    {
      why: 'a node is new, with a taint that is tolerated',
      pod: pod('a').tolerates({ key: 't', operator: 'Exists' }),
      event: newNode(node('n').taints(t)),
      yes: true,
    },
    { why: 'a taint is gone', pod: pod('a'), event: changed('taints', node('n').taints(t), node('n')), yes: true },
    {
      why: 'one of two taints is gone',
      pod: pod('a'),
      event: changed('taints', node('n').taints(t, { ...t, key: 'u' }), node('n').taints(t)),
      yes: false,
    },
    {
      why: 'a taint is gone that was a wish only',
      pod: pod('a'),
      event: changed('taints', node('n').taints({ ...t, effect: 'PreferNoSchedule' }), node('n')),
      yes: false,
    },
    { why: 'a taint came', pod: pod('a'), event: changed('taints', node('n'), node('n').taints(t)), yes: false },
    { why: 'a pod left', pod: pod('a'), event: left(pod('b')), yes: false },
  ],
  NodeAffinity: [
    { why: 'a node is new, and matches', pod: pod('a').selects({ x: 'y' }), event: newNode(node('n').labels({ x: 'y' })), yes: true },
    { why: 'a node is new, and does not match', pod: pod('a').selects({ x: 'y' }), event: newNode(node('n')), yes: false },
    {
      why: 'a node matches now',
      pod: pod('a').selects({ x: 'y' }),
      event: changed('labels', node('n'), node('n').labels({ x: 'y' })),
      yes: true,
    },
    {
      why: 'a node matched before',
      pod: pod('a').selects({ x: 'y' }),
      event: changed('labels', node('n').labels({ x: 'y' }), node('n').labels({ x: 'y', z: '' })),
      yes: false,
    },
    {
      why: 'a node matches no longer',
      pod: pod('a').selects({ x: 'y' }),
      event: changed('labels', node('n').labels({ x: 'y' }), node('n')),
      yes: false,
    },
    {
      why: 'a node lacks what the profile asks for',
      pod: pod('a').spec({ schedulerName: 'picky' }),
      event: newNode(node('n')),
      yes: false,
    },
    {
      why: 'a node has what the profile asks for',
      pod: pod('a').spec({ schedulerName: 'picky' }),
      event: changed('labels', node('n'), node('n').labels({ good: '' })),
      yes: true,
    },
  ],
  NodePorts: [
    { why: 'a pod left with the port', pod: pod('a').port(80), event: left(pod('b').port(80, 'TCP', '10.0.0.1')), yes: true },
    { why: 'a pod left with another port', pod: pod('a').port(80), event: left(pod('b').port(81)), yes: false },
    { why: 'a pod left with the port of another protocol', pod: pod('a').port(80), event: left(pod('b').port(80, 'UDP')), yes: false },
    {
      why: 'a pod left with the port at another address',
      pod: pod('a').port(80, 'TCP', '10.0.0.2'),
      event: left(pod('b').port(80, 'TCP', '10.0.0.1')),
      yes: false,
    },
    { why: 'a node is new', pod: pod('a').port(80), event: newNode(node('n')), yes: true },
    { why: 'a node is other', pod: pod('a').port(80), event: changed('labels', node('n'), node('n').labels({ x: 'y' })), yes: false },
    { why: 'a pod came', pod: pod('a').port(80), event: came(pod('b').port(80)), yes: false },
  ],
});
