import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortIn } from '../../../../../scheduler/queue/hints/node-resources-fit.ts';
import { node, pod } from '../../builders.ts';
import { a, came, changed, left, newNode, noNode, testHints, turned } from './hint-table.ts';

const GPU = 'example.com/gpu';

testHints({
  NodeResourcesFit: [
    { why: 'a pod left that held some of it', pod: pod('a').cpu('1'), event: left(pod('b').cpu('1m')), yes: true },
    { why: 'a pod left that held nothing, and a place may have been short', pod: pod('a').cpu('1'), event: left(pod('b')), yes: true },
    {
      why: 'a pod left that held nothing of what was short',
      pod: pod('a').cpu('1'),
      event: left(pod('b').memory('1Gi')),
      short: ['cpu'],
      yes: false,
    },
    { why: 'a pod left that held what was short', pod: pod('a').cpu('1'), event: left(pod('b').cpu('1m')), short: ['cpu'], yes: true },
    {
      why: 'a pod left its place, and that was short',
      pod: pod('a').cpu('1'),
      event: left(pod('b')),
      short: ['pods', 'memory'],
      yes: true,
    },
    { why: 'a pod left that held the scalar', pod: pod('a').asks(GPU, '1'), event: left(pod('b').asks(GPU, '1')), short: [GPU], yes: true },
    {
      why: 'a pod left that held another scalar',
      pod: pod('a').asks(GPU, '1'),
      event: left(pod('b').asks('example.com/x', '1')),
      short: [GPU],
      yes: false,
    },
    {
      why: 'a pod left that held disk',
      pod: pod('a').asks('ephemeral-storage', '1'),
      event: left(pod('b').asks('ephemeral-storage', '1')),
      short: ['ephemeral-storage'],
      yes: true,
    },
    { why: 'a pod asks for less', pod: pod('a').cpu('1'), event: turned(pod('b').cpu('2'), pod('b').cpu('1')), yes: true },
    {
      why: 'a pod asks for less of something else',
      pod: pod('a').cpu('1'),
      event: turned(pod('b').memory('2'), pod('b').memory('1')),
      yes: false,
    },
    { why: 'a pod asks for more', pod: pod('a').cpu('1'), event: turned(pod('b').cpu('1'), pod('b').cpu('2')), yes: false },
    { why: 'a pod has other labels', pod: pod('a').cpu('1'), event: turned(pod('b').cpu('1'), a().cpu('1')), yes: false },
    { why: 'a pod came', pod: pod('a').cpu('1'), event: came(pod('b')), yes: false },
    { why: 'a node is new, and just large enough', pod: pod('a').cpu('4').memory('8Gi'), event: newNode(node('n')), yes: true },
    { why: 'a node is new, and too small', pod: pod('a').cpu('4001m'), event: newNode(node('n')), yes: false },
    { why: 'a node is new, and has no gpu', pod: pod('a').asks(GPU, '1'), event: newNode(node('n')), yes: false },
    {
      why: 'a node is new, and lacks what somebody else looks after',
      pod: pod('a').asks('example.com/ignored', '1'),
      event: newNode(node('n')),
      yes: true,
    },
    { why: 'a node is new, and takes no pods', pod: pod('a'), event: newNode(node('n').has('pods', '0')), yes: false },
    {
      why: 'a node has more cpu',
      pod: pod('a').cpu('2'),
      event: changed('allocatable', node('n').cpu('1'), node('n').cpu('2')),
      yes: true,
    },
    {
      why: 'a node has more cpu, and too little still',
      pod: pod('a').cpu('3'),
      event: changed('allocatable', node('n').cpu('1'), node('n').cpu('2')),
      yes: false,
    },
    {
      why: 'a node has less cpu',
      pod: pod('a').cpu('1'),
      event: changed('allocatable', node('n').cpu('4'), node('n').cpu('2')),
      yes: false,
    },
    {
      why: 'a node has more of something else',
      pod: pod('a').cpu('1'),
      event: changed('allocatable', node('n').memory('1Gi'), node('n').memory('2Gi')),
      yes: false,
    },
    {
      why: 'a node takes more pods',
      pod: pod('a').cpu('1'),
      event: changed('allocatable', node('n').has('pods', '1'), node('n').has('pods', '2')),
      yes: true,
    },
    {
      why: 'a node has another label',
      pod: pod('a').cpu('1'),
      event: changed('labels', node('n'), node('n').labels({ x: 'y' })),
      yes: false,
    },
    { why: 'a node is gone', pod: pod('a').cpu('1'), event: noNode(node('n')), yes: false },
  ],
});

test('what was short is read from the reasons', () => {
  const reasons = ['Too many pods', 'Insufficient cpu', 'Insufficient example.com/gpu', 'something else'];
  assert.deepEqual(shortIn(reasons), new Set(['pods', 'cpu', 'example.com/gpu']));
});
