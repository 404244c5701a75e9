import { node, pod } from '../../builders.ts';
import { a, came, changed, fails, helps, left, newNode, noNode, testHints, turned } from './hint-table.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortIn } from '../../../../../scheduler/queue/hints/node.ts';

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

const GPU = 'example.com/gpu';

testHints({
  NodeResourcesFit: [
    helps('a pod left that held some of it', pod('a').cpu('1'), left(pod('b').cpu('1m'))),
    helps('a pod left that held nothing, and a place may have been short', pod('a').cpu('1'), left(pod('b'))),
    fails('a pod left that held nothing of what was short', pod('a').cpu('1'), left(pod('b').memory('1Gi')), ['cpu']),
    helps('a pod left that held what was short', pod('a').cpu('1'), left(pod('b').cpu('1m')), ['cpu']),
    helps('a pod left its place, and that was short', pod('a').cpu('1'), left(pod('b')), ['pods', 'memory']),
    helps('a pod left that held the scalar', pod('a').asks(GPU, '1'), left(pod('b').asks(GPU, '1')), [GPU]),
    fails('a pod left that held another scalar', pod('a').asks(GPU, '1'), left(pod('b').asks('example.com/x', '1')), [GPU]),
    helps('a pod left that held disk', pod('a').asks('ephemeral-storage', '1'), left(pod('b').asks('ephemeral-storage', '1')), [
      'ephemeral-storage',
    ]),
    helps('a pod asks for less', pod('a').cpu('1'), turned(pod('b').cpu('2'), pod('b').cpu('1'))),
    fails('a pod asks for less of something else', pod('a').cpu('1'), turned(pod('b').memory('2'), pod('b').memory('1'))),
    fails('a pod asks for more', pod('a').cpu('1'), turned(pod('b').cpu('1'), pod('b').cpu('2'))),
    fails('a pod has other labels', pod('a').cpu('1'), turned(pod('b').cpu('1'), a().cpu('1'))),
    fails('a pod came', pod('a').cpu('1'), came(pod('b'))),
    helps('a node is new, and just large enough', pod('a').cpu('4').memory('8Gi'), newNode(node('n'))),
    fails('a node is new, and too small', pod('a').cpu('4001m'), newNode(node('n'))),
    fails('a node is new, and has no gpu', pod('a').asks(GPU, '1'), newNode(node('n'))),
    helps('a node is new, and lacks what somebody else looks after', pod('a').asks('example.com/ignored', '1'), newNode(node('n'))),
    fails('a node is new, and takes no pods', pod('a'), newNode(node('n').has('pods', '0'))),
    helps('a node has more cpu', pod('a').cpu('2'), changed('allocatable', node('n').cpu('1'), node('n').cpu('2'))),
    fails('a node has more cpu, and too little still', pod('a').cpu('3'), changed('allocatable', node('n').cpu('1'), node('n').cpu('2'))),
    fails('a node has less cpu', pod('a').cpu('1'), changed('allocatable', node('n').cpu('4'), node('n').cpu('2'))),
    fails('a node has more of something else', pod('a').cpu('1'), changed('allocatable', node('n').memory('1Gi'), node('n').memory('2Gi'))),
    helps('a node takes more pods', pod('a').cpu('1'), changed('allocatable', node('n').has('pods', '1'), node('n').has('pods', '2'))),
    fails('a node has another label', pod('a').cpu('1'), changed('labels', node('n'), node('n').labels({ x: 'y' }))),
    fails('a node is gone', pod('a').cpu('1'), noNode(node('n'))),
  ],
});

test('what was short is read from the reasons', () => {
  const reasons = ['Too many pods', 'Insufficient cpu', 'Insufficient example.com/gpu', 'something else'];
  assert.deepEqual(shortIn(reasons), new Set(['pods', 'cpu', 'example.com/gpu']));
});
