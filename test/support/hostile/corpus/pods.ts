import { pods } from '../../../../kube/api/object.ts';
import { container, many, marks, named, nested, nobodys, record, unique, type Hostile } from './hostile.ts';

const pod = (name: string, spec: object, metadata: object = {}): ReturnType<typeof named> =>
  named(name, 'v1', 'Pod', { spec: { containers: [container()], ...spec } }, metadata);
const row = (why: string, spec: object, metadata: object = {}, more: Partial<Hostile> = {}): Hostile => {
  const name = unique('pod');
  return { why: `a pod with ${why}`, resource: pods, objects: () => [pod(name, spec, metadata)], ...more };
};

const term = (at: number): object => ({ topologyKey: `zone-${at % 50}`, labelSelector: { matchLabels: { app: `a-${at}` } } });
const nodeTerm = (at: number): object => ({ matchExpressions: [{ key: `k-${at}`, operator: 'In', values: ['v'] }] });

const keysOf = (at: number): object =>
  many(100, (n) => ({ weight: 1, podAffinityTerm: { topologyKey: `key-${at}-${n}`, labelSelector: { matchLabels: { app: 'a' } } } }));
const spread = (at: number): object => ({
  maxSkew: 1,
  topologyKey: `zone-${at}`,
  whenUnsatisfiable: at % 2 === 0 ? 'ScheduleAnyway' : 'DoNotSchedule',
  labelSelector: { matchLabels: { app: `a-${at}` } },
});
const owner = (at: number): object => ({ apiVersion: 'v1', kind: 'Pod', name: `p-${at}`, uid: `uid-${at}` });
const largest = { cpu: '9223372036854775807', memory: '9223372036854775807' };

// prettier-ignore
export const hostilePods: Hostile[] = [
  row('an environment of 1.4 million marks', { containers: [container({ env: [{ name: 'X', value: marks }] })] }),
  row('4,000 required anti-affinity terms', { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: many(4_000, term) } } }),
  row('8,000 node affinity terms', { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: many(8_000, nodeTerm) } } } }),
  row('8,000 spread constraints', { topologySpreadConstraints: many(8_000, spread) }),
  row('10,000 tolerations', { tolerations: many(10_000, (at) => ({ key: `k-${at}`, operator: 'Exists' })) }),
  row('20,000 labels', {}, { labels: record(20_000, (at) => [`k-${at}`, 'v']) }),
  row('10,000 containers', { containers: many(10_000, (at) => ({ name: `c-${at}`, image: 'i' })) }),
  row('20,000 host ports', { containers: [container({ ports: many(20_000, (at) => ({ containerPort: at + 1, hostPort: at + 1, protocol: 'TCP' })) })] }),
  row('2,000 claims', { volumes: many(2_000, (at) => ({ name: `v-${at}`, persistentVolumeClaim: { claimName: `c-${at}` } })) }),
  row('2,000 extended resources', { containers: [container({ resources: { limits: record(2_000, (at) => [`example.com/r-${at}`, '1']) } })] }),
  row('resources as large as numbers go', { containers: [container({ resources: { requests: largest } })] }),
  row('10,000 owners', {}, { ownerReferences: many(10_000, owner) }),
  row('half a character', { containers: [container({ env: [{ name: 'X', value: '\ud800'.repeat(100_000) }] })] }),
  row('fields that nobody knows, 3,000 deep', { unknown: nested(3_000) }, {}, { refusedBy: ['embedded'] }),
  {
    why: '50 pods with 100 topology keys of their own each',
    resource: pods,
    objects: () => many(50, (at) => pod(`keys-${at}`, { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: keysOf(at) } } })),
  },
  {
    why: '150 pods of nobody that several sets may want',
    resource: pods,
    objects: () => many(150, (at) => pod(`orphan-${at}`, nobodys, { labels: { app: 'shared' } })),
  },
];
