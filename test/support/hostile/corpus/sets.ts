import {
  controllerRevisions,
  daemonSets,
  replicaSets,
  replicationControllers,
  services,
  statefulSets,
} from '../../../../kube/api/object.ts';
import { container, many, marks, named, nested, nobodys, record, unique, type Hostile } from './hostile.ts';

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

const statefulSet = (name: string, { spec, pod, podMetadata, metadata }: Parts): ReturnType<typeof named> =>
  named(
    name,
    'apps/v1',
    'StatefulSet',
    {
      spec: {
        serviceName: 'hostile',
        replicas: 1,
        selector: { matchLabels: own(name) },
        template: { metadata: { labels: own(name), ...podMetadata }, spec: { ...nobodys, containers: [container()], ...pod } },
        ...spec,
      },
    },
    metadata,
  );
const daemonSet = (name: string, { spec, pod, podMetadata, metadata }: Parts): ReturnType<typeof named> =>
  named(
    name,
    'apps/v1',
    'DaemonSet',
    {
      spec: {
        selector: { matchLabels: own(name) },
        template: { metadata: { labels: own(name), ...podMetadata }, spec: { ...nobodys, containers: [container()], ...pod } },
        ...spec,
      },
    },
    metadata,
  );
const revision = (name: string, at: number, data: unknown): ReturnType<typeof named> =>
  named(name, 'apps/v1', 'ControllerRevision', { revision: at, data }, { labels });

const set = (why: string, parts: Parts | ((labels: object) => Parts), more: Partial<Hostile> = {}): Hostile => {
  const name = unique('set');
  const of = typeof parts === 'function' ? parts(own(name)) : parts;
  return { why: `a StatefulSet with ${why}`, resource: statefulSets, objects: () => [statefulSet(name, of)], ...more };
};
const daemons = (why: string, parts: Parts | ((labels: object) => Parts), more: Partial<Hostile> = {}): Hostile => {
  const name = unique('daemons');
  const of = typeof parts === 'function' ? parts(own(name)) : parts;
  return { why: `a DaemonSet with ${why}`, resource: daemonSets, objects: () => [daemonSet(name, of)], ...more };
};
const claimTemplate = (name: string, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const env = (value: string): object => ({ containers: [container({ env: [{ name: 'X', value }] })] });

export const hostileStatefulSets: Hostile[] = [
  set('2^31-1 replicas, in order', { spec: { replicas: LARGEST }, metadata: { annotations: { 'dkc.dev/expand-claims': 'true' } } }),
  set('2^31-1 replicas in parallel, each with ten claims', {
    spec: { replicas: LARGEST, podManagementPolicy: 'Parallel', volumeClaimTemplates: many(10, (at) => claimTemplate(`t${at}`)) },
  }),
  set('2^31-1 replicas and 10,000 ordinals left out', {
    spec: { replicas: LARGEST },
    metadata: { annotations: { 'dkc.dev/reserve-ordinals': '0-9999' } },
  }),
  set('a list of 40,000 ordinals', { metadata: { annotations: { 'dkc.dev/reserve-ordinals': many(40_000, String).join(',') } } }),
  set('1,000 claim templates', { spec: { replicas: LARGEST, volumeClaimTemplates: many(1_000, (at) => claimTemplate(`t${at}`)) } }),
  set('claim templates of 5,000 labels', {
    spec: { volumeClaimTemplates: many(5, (at) => claimTemplate(`t${at}`, { labels: record(5_000, (n) => [`k-${n}`, 'v']) })) },
  }),
  set('2,000 labels in its selector', (labels) => ({
    spec: { selector: { matchLabels: { ...labels, ...record(2_000, (at) => [`k-${at}`, 'v']) } } },
    podMetadata: { labels: { ...labels, ...record(2_000, (at) => [`k-${at}`, 'v']) } },
  })),
  set('a wish for the pods of others', { spec: { selector: { matchLabels: labels } }, podMetadata: { labels } }),
  set('an environment of 1.4 million marks in its template', { pod: env(marks) }),
  set('20,000 volumes', { pod: { volumes: many(20_000, (at) => ({ name: `v-${at}`, emptyDir: {} })) } }),
  set('annotations that are long and mean nothing', {
    metadata: {
      annotations: {
        'dkc.dev/max-unavailable': '9'.repeat(80_000),
        'dkc.dev/progress-deadline': '1h'.repeat(40_000),
        'dkc.dev/paused': 'true'.repeat(10_000),
      },
    },
  }),
];

export const hostileDaemonSets: Hostile[] = [
  daemons('20,000 labels in its template', (labels) => ({
    podMetadata: { labels: { ...labels, ...record(20_000, (at) => [`k-${at}`, 'v']) } },
  })),
  daemons('a wish for the pods of others', { spec: { selector: { matchLabels: labels } }, podMetadata: { labels } }),
  daemons('10,000 tolerations', { pod: { tolerations: many(10_000, (at) => ({ key: `k-${at}`, operator: 'Exists' })) } }),
  daemons('10,000 node selector terms', {
    pod: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: many(10_000, (at) => ({ matchExpressions: [{ key: `k-${at}`, operator: 'Exists' }] })),
          },
        },
      },
    },
  }),
  daemons('a node selector of 20,000 labels', { pod: { nodeSelector: record(20_000, (at) => [`k-${at}`, 'v']) } }),
  daemons('an environment of 1.4 million marks in its template', { pod: env(marks) }),
  daemons('20,000 variables', { pod: { containers: [container({ env: many(20_000, (at) => ({ name: `N${at}`, value: 'v' })) })] } }),
  {
    ...daemons('a count of templates of 100,000 digits', {
      metadata: { annotations: { 'deprecated.daemonset.template.generation': '9'.repeat(100_000) } },
    }),
    // A real server reads it as a number of 64 bits.
    refusedBy: ['real'],
  },
  daemons('a selector of nodes to roll out to that never ends', {
    metadata: { annotations: { 'dkc.dev/rollout-node-selector': many(20_000, (at) => `k-${at}`).join(',') } },
  }),
];

export const hostileRevisions: Hostile[] = [
  {
    why: 'two revisions nested 400 deep',
    resource: controllerRevisions,
    objects: () => many(2, (at) => revision(`nested-${at}`, at + 1, nested(400))),
  },
  {
    why: 'two revisions nested 3,000 deep',
    resource: controllerRevisions,
    refusedBy: ['embedded'],
    objects: () => many(2, (at) => revision(`deep-${at}`, at + 1, nested(3_000))),
  },
  {
    why: 'a revision of 50,000 values',
    resource: controllerRevisions,
    objects: () => [
      revision(
        'wide',
        1,
        record(50_000, (at) => [`k${at}`, at]),
      ),
    ],
  },
  {
    why: 'a revision of 450,000 lists',
    resource: controllerRevisions,
    objects: () => [revision('lists', 1, { x: many(450_000, () => []) })],
  },
  {
    why: 'a revision of as many small objects as a client takes',
    resource: controllerRevisions,
    objects: () => [revision('objects', 1, { x: many(33_000, (at) => ({ [`k${at}`]: 1 })) })],
  },
  { why: 'a revision of 1.4 million marks', resource: controllerRevisions, objects: () => [revision('marks', 1, { x: marks })] },
  {
    why: '1,100 revisions that a set may adopt',
    resource: controllerRevisions,
    objects: () => many(1_100, (at) => revision(`r-${at}`, LARGEST - at, { at })),
  },
  {
    why: 'a revision whose data is a list in lists',
    resource: controllerRevisions,
    objects: () => [revision('list', 1, { a: [[[[[[]]]]]] })],
  },
];

export const hostileOwners: Hostile[] = [
  {
    why: 'a service whose selector has 20,000 labels',
    resource: services,
    objects: () => [
      named('wide', 'v1', 'Service', { spec: { ports: [{ port: 80 }], selector: record(20_000, (at) => [`k-${at}`, 'v']) } }),
    ],
  },
  {
    why: '200 services that select one pod',
    resource: services,
    objects: () => many(200, (at) => named(`s-${at}`, 'v1', 'Service', { spec: { clusterIP: 'None', selector: labels } })),
  },
  {
    why: 'a replication controller whose selector has 10,000 labels',
    resource: replicationControllers,
    objects: () => {
      const selector = record(10_000, (at) => [`k-${at}`, 'v']);
      const template = { metadata: { labels: selector }, spec: { containers: [container()] } };
      return [named('hostile', 'v1', 'ReplicationController', { spec: { replicas: 0, selector, template } })];
    },
  },
  {
    why: 'a replica set whose selector has 10,000 expressions',
    resource: replicaSets,
    objects: () => {
      const matchExpressions = many(10_000, (at) => ({ key: `k-${at}`, operator: 'DoesNotExist' }));
      const template = { metadata: { labels }, spec: { containers: [container()] } };
      return [
        named('hostile', 'apps/v1', 'ReplicaSet', { spec: { replicas: 0, selector: { matchLabels: labels, matchExpressions }, template } }),
      ];
    },
  },
];
