import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Affinity, PodSpec } from 'kubernetes-types/core/v1.js';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import * as limits from '../../../../scheduler/pod/pod-limits.ts';
import { keeper } from '../as-kept.ts';
import { pod } from '../builders.ts';

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const term = (at: number) => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app: `a${at}` } } });
const keyed = <T>(count: number, of: (key: string) => T) => list(count, (at) => of(`v${at}`));
const record = (count: number, value: string) => Object.fromEntries(keyed(count, (key) => [`x.io/${key}`, value]));
const port = (at: number) => ({ containerPort: at + 1, hostPort: at + 1 });
const required = (terms: object[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const onNodes = (values: string[]) => ({ nodeSelectorTerms: [{ matchExpressions: [{ key: 'host', operator: 'NotIn', values }] }] });
const spread = (topologyKey: string) => ({ maxSkew: 1, topologyKey, whenUnsatisfiable: 'ScheduleAnyway' });
const container = (more: object) => ({ containers: [{ name: 'c', ...more }] });

const rows: [max: number, what: string, of: (count: number) => object][] = [
  [limits.MAX_TERMS, 'terms of pod affinity and anti-affinity', (n) => ({ affinity: { podAntiAffinity: required(list(n, term)) } })],
  [limits.MAX_CONSTRAINTS, 'topology spread constraints', (n) => ({ topologySpreadConstraints: keyed(n, spread) })],
  [limits.MAX_NODE_REQUIREMENTS, 'requirements of node selector and affinity', (n) => ({ nodeSelector: record(n, 'x') })],
  [limits.MAX_NODE_VALUES, 'values of node affinity', (n) => ({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: onNodes(keyed(n, String)) } } })],
  [limits.MAX_TOLERATIONS, 'tolerations', (n) => ({ tolerations: keyed(n, (key) => ({ key })) })],
  [limits.MAX_CONTAINERS, 'containers', (n) => ({ containers: keyed(n, (name) => ({ name })) })],
  [limits.MAX_RESOURCES, 'different resources', (n) => container({ resources: { requests: record(n, '1') } })],
  [limits.MAX_HOST_PORTS, 'container ports', (n) => container({ ports: list(n, port) })],
  [limits.MAX_CLAIMS, 'volumes that are claims or shared disks', (n) => ({ volumes: keyed(n, (name) => ({ name, persistentVolumeClaim: { claimName: name } })) })],
]; // prettier-ignore
for (const [max, what, of] of rows)
  test(`a pod may have ${max} ${what}, and is not scheduled with one more`, () => {
    const spec = (count: number): PodSpec => ({ containers: [], ...of(count) });
    assert.equal(limits.excessOf(spec(max)), undefined);
    assert.equal(limits.excessOf(spec(max + 1)), `pod has ${max + 1} ${what}, more than the ${max} that this scheduler supports`);
  });

test('of a pod on a node with too many affinity terms, the anti-affinity terms count, then the first others', () => {
  const wishes = list(150, (at) => ({ weight: 1, podAffinityTerm: term(at) }));
  const podAffinity = { preferredDuringSchedulingIgnoredDuringExecution: wishes };
  const affinity = { podAffinity, podAntiAffinity: required(list(150, term)) } as Affinity;
  const { requiredAnti, preferred } = podInfoOf(pod('hostile').on('a').affinity(affinity).build()).terms;
  assert.deepEqual([requiredAnti.length, preferred.length], [150, limits.MAX_TERMS - 150]);
});

/** While a container is resized, and while the pod is as a whole: cpu that it asks for, was granted, and has. */
const cpu = (amount: string) => ({ requests: { cpu: amount } });
const granted = (of: string, has: string) => ({ allocatedResources: { cpu: of }, resources: cpu(has) });
const status = (name: string, of: string, has: string) => ({ name, image: 'app:1', ready: true, ...granted(of, has) });
const main = (of: string, has: string) => ({ containerStatuses: [status('main', of, has)] });
const INFEASIBLE = { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] };
const beside = [{ name: 'first', resources: cpu('1') }, { name: 'beside', restartPolicy: 'Always', resources: cpu('1') }]; // prettier-ignore
const ofInit = { initContainerStatuses: [status('first', '9', '9'), status('beside', '2', '2')] };
const takes: [why: string, asks: string, more: object, status: object, cpu: number][] = [
  ['what it asks for, when nothing is said of what it has', '1', {}, {}, 1_000],
  ['what it has, when it is to have less and has not given it back', '1', {}, main('3', '3'), 3_000],
  ['what it was granted, when it has less yet', '2', {}, main('2', '500m'), 2_000],
  ['what it asks for, when it is to have more', '3', {}, main('1', '1'), 3_000],
  ['what it has, when its node can never give more', '30', {}, { ...main('1', '1'), ...INFEASIBLE }, 1_000],
  ['the same, of servers before 1.33', '30', {}, { ...main('1', '1'), resize: 'Infeasible' }, 1_000],
  ['with init containers that stay, what they have', '1', { initContainers: beside }, ofInit, 3_000],
  ['as a whole, what it has', '500m', { resources: cpu('1') }, granted('1', '3'), 3_000],
  ['as a whole, what it was granted, when it has less yet', '500m', { resources: cpu('1') }, granted('3', '2'), 3_000],
  ['as a whole, what it asks for, when it is to have more', '500m', { resources: cpu('3') }, granted('1', '1'), 3_000],
  ['as a whole, what its containers take, when it says nothing', '500m', {}, granted('3', '3'), 500],
];
for (const [why, asks, more, has, expected] of takes)
  test(`a pod takes ${why}`, () => {
    const one = pod('web').on('a').cpu(asks).memory('1Gi').spec(more).status(has).build();
    const { requests } = podInfoOf(keeper().pod(one));
    assert.deepEqual([requests.cpu, requests.scoredCpu], [expected, expected]);
  });

test('for scores a container without a memory request counts with the default, unless the pod requests memory', () => {
  const points = (spec: object) => podInfoOf({ metadata: { name: 'p' }, spec: { containers: [{ name: 'main' }], ...spec } }).requests;
  assert.equal(points({}).scoredMemory, 200 * 2 ** 20);
  assert.equal(points({ resources: { requests: { memory: '64Mi' } } }).scoredMemory, 64 * 2 ** 20);
});
