import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorTerm, PodSpec } from 'kubernetes-types/core/v1.js';
import { nodePodsOf, inOrder, targetNode } from '../../../../controllers/daemonset/pods.ts';
import { pod, pods, words } from './notation.ts';

const field = (...values: string[]) => ({ key: 'metadata.name', operator: 'In', values });
const required = (...nodeSelectorTerms: NodeSelectorTerm[]): Partial<PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

const targets: { why: string; spec: Partial<PodSpec> | undefined; is: string | undefined }[] = [
  { why: 'where it is', spec: { nodeName: 'a' }, is: 'a' },
  { why: 'where it is, whatever it was made for', spec: { nodeName: 'a', ...required({ matchFields: [field('b')] }) }, is: 'a' },
  { why: 'what it was made for', spec: required({ matchFields: [field('b')] }), is: 'b' },
  { why: 'what it was made for, when it is on no node yet', spec: { nodeName: '', ...required({ matchFields: [field('b')] }) }, is: 'b' },
  {
    why: 'what the first term that names one says',
    spec: required({ matchExpressions: [] }, { matchFields: [field('b')] }, { matchFields: [field('c')] }),
    is: 'b',
  },
  {
    why: 'what the name says beside other fields',
    spec: required({ matchFields: [{ key: 'other', operator: 'In', values: ['x'] }, field('b')] }),
    is: 'b',
  },
  { why: 'none where it could be one of several', spec: required({ matchFields: [field('b', 'c')] }), is: undefined },
  { why: 'none where it could be none', spec: required({ matchFields: [field()] }), is: undefined },
  {
    why: 'none where one is only excluded',
    spec: required({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['b'] }] }),
    is: undefined,
  },
  {
    why: 'none where labels choose',
    spec: required({ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['b'] }] }),
    is: undefined,
  },
  { why: 'none where nothing says one', spec: {}, is: undefined },
  { why: 'none without a spec', spec: undefined, is: undefined },
];
for (const { why, spec, is } of targets)
  test(`the node of a pod is ${why}`, () =>
    assert.equal(targetNode({ metadata: {}, ...(spec === undefined ? {} : { spec: { containers: [], ...spec } }) }), is));

const orders = [
  { why: 'the one that has a node', pods: 'a@young?/60 a@old/30', first: 'a-old' },
  { why: 'the older one', pods: 'a@young/30 a@old/60', first: 'a-old' },
  { why: 'the first by name of one second', pods: 'a@b a@a', first: 'a-a' },
  { why: 'the older one of two without a node', pods: 'a@young?/30 a@old?/60', first: 'a-old' },
  { why: 'the older one, ready or not', pods: 'a@young/30 a@old!/60', first: 'a-old' },
  { why: 'the older one, going or not', pods: 'a@young/30 a@old-/60', first: 'a-old' },
];
for (const { why, pods: text, first } of orders)
  test(`of two pods ${why} counts`, () => {
    for (const there of [pods(text), pods(text).toReversed()]) assert.equal(there.toSorted(inOrder)[0]?.metadata.name, first);
  });

test('a pod is in order with itself', () => assert.equal(inOrder(pod('a@new'), pod('a@new')), 0));

test('a node is kept by all its pods but those that have ended and are going', () => {
  const cell = nodePodsOf('a', undefined, pods('a@new#- a@new# a@new- a@new$- a@new'));
  const names = (there: typeof cell.pods): string => there.map(({ metadata }) => metadata.name).join(' ');
  assert.equal(names(cell.pods), 'a-new2 a-new3 a-new5');
  assert.equal(names(cell.ended), 'a-new a-new4');
  for (const text of words('a@new#- a@new$-')) assert.deepEqual(nodePodsOf('a', undefined, pods(text)).pods, []);
  assert.equal(nodePodsOf('a', undefined, pods('a@new-')).pods.length, 1);
});
