import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, ContainerPort, PodSpec } from 'kubernetes-types/core/v1.js';
import { footprintOf } from '../../../../../controllers/daemonset/placement/simulate.ts';
import { table } from '../../../../support/table.ts';
import { amountOf, portsConflict, type HostPort } from '../../../../../kube/api/pod-requests.ts';

/** `cpu=100m memory=1Gi`, requests; after `<` limits. */
function container(text: string): Container {
  const [requests = '', limits = ''] = text.split('<').map((part) => part.trim());
  const list = (part: string) => Object.fromEntries(part.split(' ').map((one) => one.split('=')));
  return { name: 'c', resources: { ...(requests && { requests: list(requests) }), ...(limits && { limits: list(limits) }) } };
}
const sidecar = (text: string): Container => ({ ...container(text), restartPolicy: 'Always' });

/** Containers, init containers (with + those that stay), overhead and what the pod says as a whole; and what comes of it. */
const cases = table('containers | init | more | requests | why')(`
  -, - |  |  |  | of nothing
  cpu=100m memory=1Ki, cpu=1 |  |  | cpu=1100 memory=1024 | are summed over containers
  cpu=1 < cpu=2 memory=3 |  |  | cpu=1000 memory=3 | are what limits say where they say nothing
  cpu=0 memory=1 |  |  | memory=1 | of zero are none
  cpu=lots memory=1 |  |  | memory=1 | that cannot be read are none
  cpu=1n memory=100m, cpu=1n |  |  | cpu=2 memory=1 | are rounded up
  example.com/gpu=2 hugepages-2Mi=4Mi attachable-volumes-x=1 ephemeral-storage=7 | |
    | example.com/gpu=2 hugepages-2Mi=4194304 attachable-volumes-x=1 ephemeral-storage=7 | count devices, huge pages, volumes and disk
  storage=5 cpu=1 |  |  | cpu=1000 | leave out what nobody counts
  cpu=1, cpu=1 | cpu=3 memory=1 |  | cpu=3000 memory=1 | keep an init container that wants more
  cpu=1, cpu=1 | cpu=1500m |  | cpu=2000 | forget one that wants less
  cpu=1 | cpu=4, cpu=5 |  | cpu=5000 | take the largest of init containers
  cpu=1 | +cpu=2 |  | cpu=3000 | add init containers that stay
  cpu=1 | cpu=5, +cpu=2, cpu=4 |  | cpu=6000 | add those that stay to the init containers after them
  cpu=1 |  | overhead cpu=250m, overhead memory=1 | cpu=1250 memory=1 | come with overhead
  cpu=1 | cpu=3 | overhead cpu=250m | cpu=3250 | add overhead to what init containers want
  cpu=1 memory=1 |  | overhead cpu=1m, whole cpu=4 | cpu=4001 memory=1 | are what the pod says as a whole, and overhead
`);
for (const { containers, init, more, requests, why } of cases)
  test(`requests ${why}`, () => {
    const said = (what: string): Record<string, string> =>
      Object.fromEntries(
        more.split(', ').flatMap((one) => (one.startsWith(what) ? [one.slice(what.length + 1).split('=')] : [])) as [string, string][],
      );
    const all = init.split(', ').filter(Boolean);
    const spec = {
      containers: containers.split(', ').map((one) => container(one.replace(/^-$/, ''))),
      initContainers: all.map((one) => (one.startsWith('+') ? sidecar(one.slice(1)) : container(one))),
      overhead: said('overhead'),
      resources: { requests: said('whole') },
    };
    const found = [...footprintOf(spec).requests].map(([name, amount]) => `${name}=${amount}`);
    assert.deepEqual(found.toSorted(), requests.split(' ').filter(Boolean).toSorted());
    assert.equal(footprintOf(spec), footprintOf(spec), 'a spec is read once');
  });

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
