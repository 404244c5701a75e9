import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { decideAndSimulate, shortageMessage, simulate, type Situation } from '../../../../../controllers/daemonset/placement/simulate.ts';
import type { Node, Pod } from '../../../../../controllers/common/types.ts';
import { table } from '../../../../support/table.ts';

/** What a template may ask for, in a word. */
const wishes: Readonly<Record<string, Partial<PodSpec>>> = {
  another: { nodeName: 'n2' },
  labelled: { nodeSelector: { disk: 'ssd' } },
  nowhere: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
};
/** `cpu=1 :80`: what a pod takes; `/phase` at the end. */
function spec(text: string): PodSpec {
  const words = text.split(' ');
  const requests = Object.fromEntries(words.filter((word) => word.includes('=')).map((word) => word.split('=')));
  const ports = words.filter((word) => word.startsWith(':')).map((word) => ({ containerPort: 1, hostPort: Number(word.slice(1)) }));
  return Object.assign({ containers: [{ name: 'c', resources: { requests }, ports }] }, ...words.map((word) => wishes[word])) as PodSpec;
}
function pod(text: string): Pod {
  const [takes = '', phase = 'Running'] = text.split(' /');
  return { metadata: { name: text }, spec: spec(takes), status: { phase } };
}
const roomy = { cpu: '4', memory: '4Gi', pods: '10', 'example.com/gpu': '1' };
const node = (allocatable: Record<string, string> = roomy): Node => ({ metadata: { name: 'n1', labels: {} }, status: { allocatable } });

const tainted = (effect: string): Node => ({ ...node(), spec: { taints: [{ key: 'a', effect }] } });

/** What a pod wants, what is there, of which node (a roomy one), or how critical, and what is missing. */
const rows = table('wants | others | at | missing | why')(`
  cpu=4 memory=4Gi example.com/gpu=1 | | | | an empty node has room
  cpu=501m | cpu=3, cpu=500m  |          | cpu, requested: 501, used: 3500, capacity: 4000  | one thousandth is missing
  cpu=4 | cpu=1 /Succeeded, cpu=1 /Failed | | | pods that have ended take no room
  memory=1Gi cpu=2 | cpu=1, memory=1 | small
    | pods, requested: 1, used: 2, capacity: 2; memory, requested: 1073741824, used: 1, capacity: 1073741824; cpu, requested: 2000, used: 1000, capacity: 1000
    | all that is missing is named, pods first
  nothing  | nothing, nothing | small    | pods, requested: 1, used: 2, capacity: 2         | it wants nothing, and there is no place
  example.com/gpu=1 | example.com/gpu=1 |          | example.com/gpu, requested: 1, used: 1, capacity: 1 | a device is taken
  cpu=9    | cpu=4            | critical |                                                  | it is critical
  :80 :81  | :81              |          | host-ports                                            | a port is taken
  cpu=9    |                  | evicting | taints                                           | a taint evicts
  cpu=9    |                  | tainted  | taints; cpu, requested: 9000, used: 0, capacity: 4000 | a taint refuses, and there is no room
  nothing  |                  | unsaid   | pods, requested: 1, used: 0, capacity: 0         | the node has not said what it has
  cpu=4    |                  | capacity |                                                  | the node has said its capacity alone
  cpu=9 another  | | | host-name | it is of another node
  cpu=9 labelled | | | node-selector | a label is missing
  cpu=9 nowhere  | | | node-selector | no affinity matches
`);
const places: Readonly<Record<string, Node>> = {
  small: node({ cpu: '1', memory: '1Gi', pods: '2' }),
  tainted: tainted('NoSchedule'),
  evicting: tainted('NoExecute'),
  unsaid: { metadata: { name: 'n1' } },
  capacity: { metadata: { name: 'n1' }, status: { capacity: roomy } },
};
function situation({ wants, others, at }: Record<'wants' | 'others' | 'at', string>): Situation {
  const template = { spec: spec(wants) };
  const pods = others === '' ? [] : others.split(', ').map(pod);
  return { template, tolerations: [], node: places[at] ?? node(), others: pods, critical: at === 'critical' };
}
const lacks = (what: string): string => `Node didn't have enough resource: ${what}`;
for (const { wants, others, at, missing, why } of rows)
  test(`simulated, ${why}`, () => {
    const found = missing === '' ? [] : missing.split('; ').map((what) => (what.includes(',') ? lacks(what) : what));
    const says = simulate(situation({ wants, others, at })).map((one) => (one.failed === 'resource' ? shortageMessage(one) : one.failed));
    assert.deepEqual(says, found);
  });

/** A node gets the pod, it waits there for room, it keeps one that it has, or has none; and why, by kind and details. */
const decisions = table('wants | others | at | pod | reason | missing | why')(`
  cpu=1 |  |  | gets | fits |  | has room
  memory=2Gi | memory=3Gi, cpu=9 | | waits | resources memory 2Gi 1Gi
    | memory, requested: 2147483648, used: 3221225472, capacity: 4294967296 | has none
  :80   | :80 |  | has no | host-ports 80 |  | has its port taken
  cpu=9 |  | tainted | keeps | taint a:NoSchedule |  | refuses newcomers, and has no room
  labelled |  |  | has no | node-selector disk ssd undefined |  | has not the label
`);
for (const { wants, others, at, pod, reason, missing, why } of decisions)
  test(`decided by simulation: a node that ${why}`, () => {
    const { reason: found, failedPlacement, ...is } = decideAndSimulate(situation({ wants, others, at }));
    const said = Object.values(found).map((part: unknown) =>
      typeof part === 'object' && part !== null ? Object.values(part).join(':') : String(part),
    );
    const run = pod === 'gets' || pod === 'waits';
    assert.deepEqual([is, said.join(' ')], [{ run, schedule: pod === 'gets', keep: pod !== 'has no' }, reason]);
    assert.deepEqual(failedPlacement, missing === '' ? undefined : [lacks(missing)]);
  });
