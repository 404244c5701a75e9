import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortIn } from '../../../../../scheduler/queue/hints/node-resources-fit.ts';
import { node, pod } from '../../builders.ts';
import { a, came, changed, fails, helps, left, newNode, noNode, testHints, turned } from './hint-table.ts';

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
