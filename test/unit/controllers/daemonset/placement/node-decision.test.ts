import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { type Reason, decideNode } from '../../../../../controllers/daemonset/placement/node-decision.ts';
import { daemonTolerations } from '../../../../../controllers/daemonset/rules.ts';
import type { Node } from '../../../../../controllers/common/types.ts';
import { table } from '../../../../support/table.ts';

/** Taints are written `key:effect`, the node's labels are always the same. */
function node(taints: string): Node {
  const metadata = { name: 'n1', labels: { disk: 'ssd' } };
  return taints === '' ? { metadata, spec: {} } : { metadata, spec: { taints: taints.split(' ').map(taint) } };
}
function taint(text: string): Taint {
  const [key = '', effect = ''] = text.split(':');
  return { key, effect };
}

/** Node names are of the template (`node=`), of its affinity (`affinity=`, or no terms), or merely preferred; `disk=` is its node selector. Taints are `key:effect`. */
const cases = table('template | taints | tolerated | pod | reason | why')(`
  any                  |                          |     | gets   | fits               | the pod fits
  node=n1              |                          |     | gets   | fits               | the template names this node
  node=                |                          |     | gets   | fits               | the template names no node
  node=n2 disk=hdd     |                          |     | has no | node-name n2       | the template names another node
  disk=ssd             |                          |     | gets   | fits               | the selector matches
  disk=hdd affinity=n2 | a:NoSchedule             |     | has no | node-selector disk=hdd, not ssd | the selector does not match
  affinity=n1          |                          |     | gets   | fits               | the affinity matches
  affinity=n2          | a:NoSchedule             |     | has no | node-affinity      | the affinity does not match
  disk=ssd affinity=n2 |                          |     | has no | node-affinity      | selector matches and affinity does not
  affinity=            |                          |     | has no | node-affinity      | an affinity has no terms
  preferred            |                          |     | gets   | fits               | the affinity is a mere preference
  any                  | a:NoSchedule             |     | keeps  | taint a:NoSchedule | a NoSchedule taint is new
  any                  | a:NoExecute              |     | has no | taint a:NoExecute  | a NoExecute taint is new
  any                  | a:NoSchedule b:NoExecute |     | has no | taint b:NoExecute  | NoExecute comes after NoSchedule
  any                  | b:NoExecute a:NoSchedule | b   | keeps  | taint a:NoSchedule | NoExecute is tolerated and NoSchedule is not
  any                  | a:NoSchedule b:NoExecute | a b | gets   | fits               | all taints are tolerated
  any                  | a:PreferNoSchedule       |     | gets   | fits               | a taint is a mere preference
`);
for (const { template, taints, tolerated, pod, reason, why } of cases)
  test(`a node where ${why} ${pod} ${pod === 'has no' ? 'pod' : 'a pod'}`, () => {
    const tolerations = tolerated.split(' ').map((key): Toleration => ({ key: key || 'none', operator: 'Exists' }));
    const run = pod === 'gets';
    const decided = decideNode({ spec: { containers: [], ...specOf(template) } }, tolerations, node(taints));
    assert.deepEqual({ ...decided, reason: said(decided.reason) }, { run, schedule: run, keep: pod !== 'has no', reason });
  });

function specOf(text: string): Partial<PodSpec> {
  const said = new Map(text.split(' ').map((word) => word.split('=') as [string, string | undefined]));
  const [nodeName, disk, named] = [said.get('node'), said.get('disk'), said.get('affinity')];
  const required =
    named === undefined
      ? undefined
      : { nodeSelectorTerms: named === '' ? [] : [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [named] }] }] };
  const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['hdd'] }] } }];
  return {
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(disk === undefined ? {} : { nodeSelector: { disk } }),
    ...(required === undefined ? {} : { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } }),
    ...(said.has('preferred') ? { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } } : {}),
  };
}

function said(reason: Reason): string {
  if (reason.kind === 'taint') return `taint ${reason.taint.key}:${reason.taint.effect}`;
  if (reason.kind === 'node-name') return `node-name ${reason.wanted}`;
  return reason.kind === 'node-selector' ? `node-selector ${reason.key}=${reason.wanted}, not ${reason.found}` : reason.kind;
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
