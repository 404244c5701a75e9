import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelector, PodSpec, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { type Reason, decideNode } from '../../../../../controllers/daemonset/placement/node-decision.ts';
import { daemonTolerations } from '../../../../../controllers/daemonset/rules.ts';
import type { Node } from '../../../../../controllers/daemonset/types.ts';

/** Taints are written `key:effect`, the node's labels are always the same. */
function node(taints: string): Node {
  const metadata = { name: 'n1', labels: { disk: 'ssd' } };
  return taints === '' ? { metadata, spec: {} } : { metadata, spec: { taints: taints.split(' ').map(taint) } };
}
function taint(text: string): Taint {
  const [key = '', effect = ''] = text.split(':');
  return { key, effect };
}
const affinity = (required: NodeSelector): Partial<PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
});
const name = (value: string): NodeSelector => ({
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [value] }] }],
});
const fits: Reason = { kind: 'fits' };
const tainted = (text: string): Reason => ({ kind: 'taint', taint: taint(text) });

interface Case {
  why: string;
  spec?: Partial<PodSpec>;
  taints?: string;
  tolerates?: string[];
  run: boolean;
  keep: boolean;
  reason: Reason;
}
const cases: Case[] = [
  { why: 'the pod fits', run: true, keep: true, reason: fits },
  { why: 'the template names this node', spec: { nodeName: 'n1' }, run: true, keep: true, reason: fits },
  { why: 'the template names no node', spec: { nodeName: '' }, run: true, keep: true, reason: fits },
  {
    why: 'the template names another node',
    spec: { nodeName: 'n2', nodeSelector: { disk: 'hdd' } },
    run: false,
    keep: false,
    reason: { kind: 'node-name', wanted: 'n2' },
  },
  { why: 'the selector matches', spec: { nodeSelector: { disk: 'ssd' } }, run: true, keep: true, reason: fits },
  {
    why: 'the selector does not match',
    spec: { nodeSelector: { disk: 'hdd' }, ...affinity(name('n2')) },
    taints: 'a:NoSchedule',
    run: false,
    keep: false,
    reason: { kind: 'node-selector', key: 'disk', wanted: 'hdd', found: 'ssd' },
  },
  { why: 'the affinity matches', spec: affinity(name('n1')), run: true, keep: true, reason: fits },
  {
    why: 'the affinity does not match',
    spec: affinity(name('n2')),
    taints: 'a:NoSchedule',
    run: false,
    keep: false,
    reason: { kind: 'node-affinity' },
  },
  {
    why: 'selector matches and affinity does not',
    spec: { nodeSelector: { disk: 'ssd' }, ...affinity(name('n2')) },
    run: false,
    keep: false,
    reason: { kind: 'node-affinity' },
  },
  {
    why: 'an affinity has no terms',
    spec: affinity({ nodeSelectorTerms: [] }),
    run: false,
    keep: false,
    reason: { kind: 'node-affinity' },
  },
  {
    why: 'the affinity is a mere preference',
    spec: {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['hdd'] }] } },
          ],
        },
      },
    },
    run: true,
    keep: true,
    reason: fits,
  },
  { why: 'a NoSchedule taint is new', taints: 'a:NoSchedule', run: false, keep: true, reason: tainted('a:NoSchedule') },
  { why: 'a NoExecute taint is new', taints: 'a:NoExecute', run: false, keep: false, reason: tainted('a:NoExecute') },
  {
    why: 'NoExecute comes after NoSchedule',
    taints: 'a:NoSchedule b:NoExecute',
    run: false,
    keep: false,
    reason: tainted('b:NoExecute'),
  },
  {
    why: 'NoExecute is tolerated and NoSchedule is not',
    taints: 'b:NoExecute a:NoSchedule',
    tolerates: ['b'],
    run: false,
    keep: true,
    reason: tainted('a:NoSchedule'),
  },
  { why: 'all taints are tolerated', taints: 'a:NoSchedule b:NoExecute', tolerates: ['a', 'b'], run: true, keep: true, reason: fits },
  { why: 'a taint is a mere preference', taints: 'a:PreferNoSchedule', run: true, keep: true, reason: fits },
];
for (const c of cases) {
  test(`a node where ${c.why} ${c.run ? 'gets a pod' : c.keep ? 'keeps a pod' : 'has no pod'}`, () => {
    const template = { spec: { containers: [], ...c.spec } };
    const tolerations = (c.tolerates ?? []).map((key): Toleration => ({ key, operator: 'Exists' }));
    assert.deepEqual(decideNode(template, tolerations, node(c.taints ?? '')), {
      run: c.run,
      schedule: c.run,
      keep: c.keep,
      reason: c.reason,
    });
  });
}

for (const [operator, value, run] of [
  ['Gt', '4', true],
  ['Gt', '5', false],
  ['Lt', '6', true],
  ['Lt', '5', false],
] as const)
  // prettier-ignore
  test(`a taint of value 5 and a toleration ${operator} ${value}: ${run ? 'a pod' : 'no pod'}`, () => {
    const tainted = { metadata: { name: 'n1' }, spec: { taints: [{ key: 'load', value: '5', effect: 'NoExecute' }] } };
    assert.equal(decideNode({}, [{ key: 'load', operator, value }], tainted).run, run);
  });

test('a template without a spec fits, and what fits is one object', () => {
  assert.equal(decideNode({}, [], { metadata: { name: 'n1' } }), decideNode({ spec: { containers: [] } }, [], node('')));
});

const trouble = [
  { why: 'is cordoned', taints: 'node.kubernetes.io/unschedulable:NoSchedule', run: true, keep: true },
  { why: 'was lost', taints: 'node.kubernetes.io/unreachable:NoExecute', run: true, keep: true },
  { why: 'is not ready yet', taints: 'node.kubernetes.io/not-ready:NoSchedule', run: false, keep: true },
  { why: 'has no network yet', taints: 'node.kubernetes.io/network-unavailable:NoSchedule', run: false, keep: true },
];
for (const c of trouble) {
  test(`a plain set on a node that ${c.why} ${c.run ? 'runs' : 'stays, and does not come'}`, () => {
    const { run, keep } = decideNode({}, daemonTolerations(undefined, { era: 'modern', critical: false }), node(c.taints));
    assert.deepEqual({ run, keep }, { run: c.run, keep: c.keep });
  });
}
