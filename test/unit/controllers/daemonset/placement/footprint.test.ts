import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, ContainerPort, PodSpec } from 'kubernetes-types/core/v1.js';
import { footprintOf } from '../../../../../controllers/daemonset/placement/simulate.ts';
import { amountOf, portsConflict, type HostPort } from '../../../../../kube/api/pod-requests.ts';

/** `cpu=100m memory=1Gi`, requests; after `<` limits. */
function container(text: string): Container {
  const [requests = '', limits = ''] = text.split('<').map((part) => part.trim());
  const list = (part: string) => Object.fromEntries(part.split(' ').map((one) => one.split('=')));
  return { name: 'c', resources: { ...(requests && { requests: list(requests) }), ...(limits && { limits: list(limits) }) } };
}
const sidecar = (text: string): Container => ({ ...container(text), restartPolicy: 'Always' });

interface Case {
  why: string;
  containers?: string[];
  init?: Container[];
  overhead?: Record<string, string>;
  whole?: Record<string, string>;
  requests: Record<string, bigint>;
}
const cases: Case[] = [
  { why: 'of nothing', containers: ['', ''], requests: {} },
  { why: 'are summed over containers', containers: ['cpu=100m memory=1Ki', 'cpu=1'], requests: { cpu: 1100n, memory: 1024n } },
  { why: 'are what limits say where they say nothing', containers: ['cpu=1 < cpu=2 memory=3'], requests: { cpu: 1000n, memory: 3n } },
  { why: 'of zero are none', containers: ['cpu=0 memory=1'], requests: { memory: 1n } },
  { why: 'that cannot be read are none', containers: ['cpu=lots memory=1'], requests: { memory: 1n } },
  { why: 'are rounded up', containers: ['cpu=1n memory=100m', 'cpu=1n'], requests: { cpu: 2n, memory: 1n } },
  {
    why: 'count devices, huge pages, volumes and disk',
    containers: ['example.com/gpu=2 hugepages-2Mi=4Mi attachable-volumes-x=1 ephemeral-storage=7'],
    requests: { 'example.com/gpu': 2n, 'hugepages-2Mi': 4194304n, 'attachable-volumes-x': 1n, 'ephemeral-storage': 7n },
  },
  { why: 'leave out what nobody counts', containers: ['storage=5 cpu=1'], requests: { cpu: 1000n } },
  {
    why: 'keep an init container that wants more',
    containers: ['cpu=1', 'cpu=1'],
    init: [container('cpu=3 memory=1')],
    requests: { cpu: 3000n, memory: 1n },
  },
  { why: 'forget one that wants less', containers: ['cpu=1', 'cpu=1'], init: [container('cpu=1500m')], requests: { cpu: 2000n } },
  {
    why: 'take the largest of init containers',
    containers: ['cpu=1'],
    init: [container('cpu=4'), container('cpu=5')],
    requests: { cpu: 5000n },
  },
  { why: 'add init containers that stay', containers: ['cpu=1'], init: [sidecar('cpu=2')], requests: { cpu: 3000n } },
  {
    why: 'add those that stay to the init containers after them',
    containers: ['cpu=1'],
    init: [container('cpu=5'), sidecar('cpu=2'), container('cpu=4')],
    requests: { cpu: 6000n },
  },
  { why: 'come with overhead', containers: ['cpu=1'], overhead: { cpu: '250m', memory: '1' }, requests: { cpu: 1250n, memory: 1n } },
  {
    why: 'add overhead to what init containers want',
    containers: ['cpu=1'],
    init: [container('cpu=3')],
    overhead: { cpu: '250m' },
    requests: { cpu: 3250n },
  },
  {
    why: 'are what the pod says as a whole, and overhead',
    containers: ['cpu=1 memory=1'],
    whole: { cpu: '4' },
    overhead: { cpu: '1m' },
    requests: { cpu: 4001n, memory: 1n },
  },
];
for (const { why, containers = [], init, overhead, whole, requests } of cases) {
  test(`requests ${why}`, () => {
    const spec = {
      containers: containers.map(container),
      ...(init && { initContainers: init }),
      ...(overhead && { overhead }),
      ...(whole && { resources: { requests: whole } }),
    };
    assert.deepEqual(Object.fromEntries(footprintOf(spec).requests), requests);
    assert.equal(footprintOf(spec), footprintOf(spec), 'a spec is read once');
  });
}

test('amounts that cannot be read are none, and negative ones zero', () => {
  assert.equal(amountOf('cpu', undefined), undefined);
  assert.equal(amountOf('cpu', 'lots'), undefined);
  assert.equal(amountOf('memory', '-2'), 0n);
});

const ports: { why: string; given: ContainerPort[]; spec?: Partial<PodSpec>; ports: HostPort[] }[] = [
  { why: 'of the container alone', given: [{ containerPort: 80 }], ports: [] },
  { why: 'of the host', given: [{ containerPort: 80, hostPort: 8080 }], ports: [{ port: 8080, protocol: 'TCP', ip: '0.0.0.0' }] },
  {
    why: 'as they are written',
    given: [{ containerPort: 80, hostPort: 53, protocol: 'UDP', hostIP: '127.0.0.1' }],
    ports: [{ port: 53, protocol: 'UDP', ip: '127.0.0.1' }],
  },
  {
    why: 'on the host network',
    given: [{ containerPort: 80 }],
    spec: { hostNetwork: true },
    ports: [{ port: 80, protocol: 'TCP', ip: '0.0.0.0' }],
  },
];
for (const { why, given, spec, ports: expected } of ports) {
  test(`ports ${why}`, () => {
    assert.deepEqual(footprintOf({ containers: [{ name: 'c', ports: given }], ...spec }).ports, expected);
  });
}
test('ports of init containers count when they stay', () => {
  const given = { name: 'c', ports: [{ containerPort: 1, hostPort: 1 }] };
  assert.equal(footprintOf({ containers: [], initContainers: [given] }).ports.length, 0);
  assert.equal(footprintOf({ containers: [], initContainers: [{ ...given, restartPolicy: 'Always' }] }).ports.length, 1);
});

/** `ip:port/protocol` */
function port(text: string): HostPort {
  const [, ip = '', number = '', protocol = ''] = /^(.*):(\d+)\/(.*)$/.exec(text) ?? [];
  return { ip, port: Number(number), protocol };
}
const conflicts = [
  { a: '0.0.0.0:80/TCP', b: '0.0.0.0:80/TCP', conflict: true },
  { a: '0.0.0.0:80/TCP', b: '0.0.0.0:81/TCP', conflict: false },
  { a: '0.0.0.0:80/TCP', b: '0.0.0.0:80/UDP', conflict: false },
  { a: '0.0.0.0:80/TCP', b: '127.0.0.1:80/TCP', conflict: true },
  { a: '127.0.0.1:80/TCP', b: '127.0.0.1:80/TCP', conflict: true },
  { a: '127.0.0.1:80/TCP', b: '127.0.0.2:80/TCP', conflict: false },
];
for (const { a, b, conflict } of conflicts) {
  test(`${a} and ${b} ${conflict ? 'conflict' : 'go together'}`, () => {
    assert.equal(portsConflict(port(a), port(b)), conflict);
    assert.equal(portsConflict(port(b), port(a)), conflict);
  });
}
