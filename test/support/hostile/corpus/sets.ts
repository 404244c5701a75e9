import { controllerRevisions, daemonSets, replicaSets, type Resource, services, statefulSets } from '../../../../kube/api/object.ts';
import { container, expressions, many, marks, nested, nobodys, pairs, record, row, unique, type Hostile } from './hostile.ts';

const labels = { app: 'shared' };
const LARGEST = 2 ** 31 - 1;

interface Parts {
  spec?: object;
  pod?: object;
  podMetadata?: object;
  metadata?: object;
}

/** Sets of one namespace select by their names, but for what the rows say. */
const own = (name: string): { app: string } => ({ app: name });

const templated = (name: string, { spec, pod, podMetadata, metadata }: Parts): { spec: object; metadata: object | undefined } => ({
  metadata,
  spec: {
    selector: { matchLabels: own(name) },
    template: { metadata: { labels: own(name), ...podMetadata }, spec: { ...nobodys, containers: [container()], ...pod } },
    ...spec,
  },
});
const setOf =
  (resource: Resource, a: string, fields: object) =>
  (why: string, parts: Parts | ((labels: object) => Parts), more: Pick<Hostile, 'refusedBy'> = {}): Hostile => {
    const name = unique('set');
    const of = templated(name, typeof parts === 'function' ? parts(own(name)) : parts);
    return row(resource, `${a} with ${why}`, () => ({ ...of, spec: { ...fields, ...of.spec } }), { name, ...more });
  };
const set = setOf(statefulSets, 'a StatefulSet', { serviceName: 'hostile', replicas: 1 });
const daemons = setOf(daemonSets, 'a DaemonSet', {});
const revisions = (why: string, data: () => object, more: { count?: number } & Pick<Hostile, 'refusedBy'> = {}): Hostile =>
  row(controllerRevisions, why, (at) => ({ revision: at + 1, data: data(), metadata: { labels } }), more);

const claimTemplate = (at: number): object => ({
  metadata: { name: `t${at}` },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const env = (value: string): object => ({ containers: [container({ env: [{ name: 'X', value }] })] });

const meaningless = {
  'dkc.dev/max-unavailable': '9'.repeat(80_000),
  'dkc.dev/progress-deadline': '1h'.repeat(40_000),
  'dkc.dev/paused': 'true'.repeat(10_000),
};
const nodeSelectorTerms = expressions(10_000, 'Exists').map((one) => ({ matchExpressions: [one] }));
const reserved = (ordinals: string): object => ({ annotations: { 'dkc.dev/reserve-ordinals': ordinals } });

// prettier-ignore
export const hostileStatefulSets: Hostile[] = [
  set('2^31-1 replicas, in order', { spec: { replicas: LARGEST }, metadata: { annotations: { 'dkc.dev/expand-claims': 'true' } } }),
  set('2^31-1 replicas in parallel, each with ten claims', { spec: { replicas: LARGEST, podManagementPolicy: 'Parallel', volumeClaimTemplates: many(10, claimTemplate) } }),
  set('2^31-1 replicas and 10,000 ordinals left out', { spec: { replicas: LARGEST }, metadata: reserved('0-9999') }),
  set('a list of 40,000 ordinals', { metadata: reserved(many(40_000, String).join(',')) }),
  set('1,000 claim templates', { spec: { replicas: LARGEST, volumeClaimTemplates: many(1_000, claimTemplate) } }),
  set('2,000 labels in its selector', (labels) => ({
    spec: { selector: { matchLabels: { ...labels, ...pairs(2_000) } } },
    podMetadata: { labels: { ...labels, ...pairs(2_000) } },
  })),
  set('a wish for the pods of others', { spec: { selector: { matchLabels: labels } }, podMetadata: { labels } }),
  set('an environment of 1.4 million marks in its template', { pod: env(marks) }),
  set('annotations that are long and mean nothing', { metadata: { annotations: meaningless } }),
];

// prettier-ignore
export const hostileDaemonSets: Hostile[] = [
  daemons('20,000 labels in its template', (labels) => ({ podMetadata: { labels: { ...labels, ...pairs(20_000) } } })),
  daemons('a wish for the pods of others', { spec: { selector: { matchLabels: labels } }, podMetadata: { labels } }),
  daemons('10,000 node selector terms', { pod: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } } }),
  daemons('an environment of 1.4 million marks in its template', { pod: env(marks) }),
  // A real server reads it as a number of 64 bits.
  daemons('a count of templates of 100,000 digits', { metadata: { annotations: { 'deprecated.daemonset.template.generation': '9'.repeat(100_000) } } }, { refusedBy: ['real'] }),
  daemons('a selector of nodes to roll out to that never ends', { metadata: { annotations: { 'dkc.dev/rollout-node-selector': many(20_000, (at) => `k-${at}`).join(',') } } }),
];

// prettier-ignore
export const hostileRevisions: Hostile[] = [
  revisions('two revisions nested 400 deep', () => nested(400), { count: 2 }),
  revisions('two revisions nested 3,000 deep', () => nested(3_000), { count: 2, refusedBy: ['embedded'] }),
  revisions('a revision of 50,000 values', () => record(50_000, (at) => [`k${at}`, at])),
  revisions('a revision of 450,000 lists', () => ({ x: many(450_000, () => []) })),
  revisions('a revision of 1.4 million marks', () => ({ x: marks })),
  row(controllerRevisions, '1,100 revisions that a set may adopt', (at) => ({ revision: LARGEST - at, data: { at }, metadata: { labels } }), { count: 1_100 }),
];

export const hostileOwners: Hostile[] = [
  row(services, 'a service whose selector has 20,000 labels', () => ({ spec: { ports: [{ port: 80 }], selector: pairs(20_000) } })),
  row(services, '200 services that select one pod', () => ({ spec: { clusterIP: 'None', selector: labels } }), { count: 200 }),
  row(replicaSets, 'a replica set whose selector has 10,000 expressions', () => {
    const template = { metadata: { labels }, spec: { containers: [container()] } };
    return { spec: { replicas: 0, selector: { matchLabels: labels, matchExpressions: expressions(10_000) }, template } };
  }),
];
