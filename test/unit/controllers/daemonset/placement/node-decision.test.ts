import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec, Taint, Toleration } from 'kubernetes-types/core/v1.js';
import { type Reason, decideNode } from '../../../../../controllers/daemonset/placement/node-decision.ts';
import { evaluatePredicates, type Found } from '../../../../../controllers/daemonset/placement/simulate.ts';
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
  node=n2 disk=hdd     |                          |     | has no | node-name n2       | the template names another node
  disk=ssd             |                          |     | gets   | fits               | the selector matches
  disk=hdd affinity=n2 | a:NoSchedule             |     | has no | node-selector disk=hdd, not ssd | the selector does not match
  affinity=n2          | a:NoSchedule             |     | has no | node-affinity      | the affinity does not match
  preferred            |                          |     | gets   | fits               | the affinity is a mere preference
  any                  | a:NoSchedule             |     | keeps  | taint a:NoSchedule | a NoSchedule taint is new
  any                  | a:NoExecute              |     | has no | taint a:NoExecute  | a NoExecute taint is new
  any                  | a:NoSchedule b:NoExecute |     | has no | taint b:NoExecute  | NoExecute comes after NoSchedule
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

const reason: Reason = { kind: 'fits' };
const short = { failed: 'resource', requested: 2n, used: 3n, capacity: 4n, reason } as const;
const [taints, port, selector] = [{ failed: 'taints', reason }, { failed: 'host-ports', reason }, { failed: 'node-selector', reason }] as const; // prettier-ignore
const [evicting, refusing] = [true, false].map((evicts) => ({ ...taints, evicts }));
const [cpu, memory] = ['cpu', 'memory'].map((resource) => ({ ...short, resource }));
const known: Readonly<Record<string, Found | undefined>> = { cpu, memory, evicting, refusing, port, selector };

/** What fails, whether the node is wanted, scheduled to and kept, and which resource is named. */
const predicates = table('failures | values | short | why')(`
               | yes yes yes |        | nothing fails
  selector     | no no no    |        | the selector does not match
  port         | no no no    |        | a port is taken
  evicting     | no no no    |        | a taint evicts
  refusing     | no no yes   |        | a taint refuses
  cpu          | yes no yes  | cpu    | there is no room
  cpu memory   | yes no yes  | memory | two resources are short
  refusing cpu | no no yes   |        | a taint refuses and room is short
  refusing port | no no no   |        | a taint refuses and a port is taken
`);
for (const { failures, values, short: resource, why } of predicates)
  test(`where ${why}: ${values}`, () => {
    const [want, schedule, keep] = values.split(' ').map((value) => value === 'yes');
    const failed = failures.split(' ').flatMap((what) => known[what] ?? []);
    const told = resource !== '' && {
      failedPlacement: `Node didn't have enough resource: ${resource}, requested: 2, used: 3, capacity: 4`,
    };
    assert.deepEqual(evaluatePredicates(failed), { want, schedule, keep, ...told });
  });
