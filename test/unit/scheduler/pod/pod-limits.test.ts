import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Affinity, PodSpec } from 'kubernetes-types/core/v1.js';
import { carriedBy } from '../../../../scheduler/cache/carried-terms.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import {
  excessOf,
  MAX_CLAIMS,
  MAX_CONSTRAINTS,
  MAX_CONTAINERS,
  MAX_HOST_PORTS,
  MAX_NODE_REQUIREMENTS,
  MAX_NODE_VALUES,
  MAX_RESOURCES,
  MAX_TERMS,
  MAX_TOLERATIONS,
} from '../../../../scheduler/pod/pod-limits.ts';
import { pod } from '../builders.ts';

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const term = (at: number) => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app: `a${at}` } } });
const values = (count: number): string[] => list(count, (at) => `v${at}`);
const port = (at: number) => ({ containerPort: at + 1, hostPort: at + 1 });

const node = (matchExpressions: object[]) => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
});
const required = (terms: object[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const preferred = (count: number) => ({
  preferredDuringSchedulingIgnoredDuringExecution: list(count, (at) => ({ weight: 1, podAffinityTerm: term(at) })),
});
const rule = (topologyKey: string, more: object = {}) => ({ maxSkew: 1, topologyKey, whenUnsatisfiable: 'ScheduleAnyway', ...more });

const TERMS = 'terms of pod affinity and anti-affinity';

const keyed = <T>(count: number, of: (key: string) => T) => values(count).map(of);
const row = (what: string, max: number, says: string, of: (count: number) => object) => ({ what, max, says, of });
const cases = [
  row('terms of pod affinity', MAX_TERMS, TERMS, (n) => ({ affinity: { podAntiAffinity: required(list(n, term)) } })),
  row('topology spread constraints', MAX_CONSTRAINTS, 'topology spread constraints', (n) => ({
    topologySpreadConstraints: keyed(n, (key) => rule(key)),
  })),
  row('labels of the node selector', MAX_NODE_REQUIREMENTS, 'requirements of node selector and affinity', (n) => ({
    nodeSelector: Object.fromEntries(keyed(n, (key) => [key, 'x'])),
  })),
  row('values of node affinity', MAX_NODE_VALUES, 'values of node affinity', (n) => ({
    affinity: { nodeAffinity: node([{ key: 'host', operator: 'NotIn', values: values(n) }]) },
  })),
  row('tolerations', MAX_TOLERATIONS, 'tolerations', (n) => ({ tolerations: keyed(n, (key) => ({ key })) })),
  row('containers', MAX_CONTAINERS, 'containers', (n) => ({ containers: keyed(n, (name) => ({ name })) })),
  row('resources', MAX_RESOURCES, 'different resources', (n) => ({
    containers: [{ name: 'c', resources: { requests: Object.fromEntries(keyed(n, (name) => [`x.io/${name}`, '1'])) } }],
  })),
  row('ports', MAX_HOST_PORTS, 'container ports', (n) => ({ containers: [{ name: 'c', ports: list(n, port) }] })),
  row('claims', MAX_CLAIMS, 'volumes that are claims or shared disks', (n) => ({
    volumes: keyed(n, (name) => ({ name, persistentVolumeClaim: { claimName: name } })),
  })),
];

for (const { what, max, of, says } of cases)
  test(`a pod may have ${max} ${what}, and is not scheduled with one more`, () => {
    const spec = (count: number): PodSpec => ({ containers: [], ...of(count) });
    assert.equal(excessOf(spec(max)), undefined);
    assert.equal(excessOf(spec(max + 1)), `pod has ${max + 1} ${says}, more than the ${max} that this scheduler supports`);
  });

test('of a pod on a node that has more terms than one may have, those count that keep others away, and then the first', () => {
  const affinity = { podAffinity: preferred(150), podAntiAffinity: required(list(150, term)) } as Affinity;
  const hostile = podInfoOf(pod('hostile').on('a').affinity(affinity).build());
  const { requiredAnti, preferred: kept } = hostile.terms;
  assert.deepEqual([requiredAnti.length, kept.length], [150, MAX_TERMS - 150]);
  assert.equal(carriedBy(hostile).length, MAX_TERMS);
});

test('host ports of a pod on a node count up to as many as a pod may have', () => {
  const containers = [{ name: 'c', ports: list(MAX_HOST_PORTS + 100, port) }];
  assert.equal(podInfoOf(pod('hostile').on('a').spec({ containers }).build()).ports.length, MAX_HOST_PORTS);
});
