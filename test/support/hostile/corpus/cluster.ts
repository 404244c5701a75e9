import {
  configMaps,
  coreEvents,
  csiDrivers,
  csiNodes,
  leases,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  podDisruptionBudgetsBeta,
  priorityClasses,
  storageClasses,
} from '../../../../kube/api/object.ts';
import { type Hostile, invisible, many, marks, named, NAMESPACE, record, unique } from './hostile.ts';

const ready = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }];
const room = { cpu: '8', memory: '32Gi', pods: '250' };
const node = (
  why: string,
  { metadata, spec, status }: { metadata?: object; spec?: object; status?: object },
  name = unique('hostile-node'),
): Hostile => ({
  why: `a node with ${why}`,
  resource: nodes,
  objects: () => [
    named(name, 'v1', 'Node', { spec: { ...spec }, status: { capacity: room, allocatable: room, conditions: ready, ...status } }, metadata),
  ],
});

export const hostileNodes: Hostile[] = [
  node('20,000 labels', { metadata: { labels: record(20_000, (at) => [`k-${at}`, 'v']) } }),
  node('5,000 taints', { spec: { taints: many(5_000, (at) => ({ key: `k-${at}`, value: 'v', effect: 'NoSchedule' })) } }),
  node('5,000 taints that only advise', { spec: { taints: many(5_000, (at) => ({ key: `k-${at}`, effect: 'PreferNoSchedule' })) } }),
  node('10,000 images', { status: { images: many(10_000, (at) => ({ names: [`i-${at}`], sizeBytes: 2 ** 40 })) } }),
  node('10,000 resources', { status: { allocatable: { ...room, ...record(10_000, (at) => [`example.com/r-${at}`, '1']) } } }),
  node('10,000 conditions', { status: { conditions: [...ready, ...many(10_000, (at) => ({ type: `T${at}`, status: 'True' }))] } }),
  node('an annotation of 250,000 marks', { metadata: { annotations: { 'dkc.dev/x': marks.slice(0, 250_000) } } }),
];

const claim = (name: string, spec: object, metadata: object = {}): ReturnType<typeof named> =>
  named(
    name,
    'v1',
    'PersistentVolumeClaim',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec } },
    metadata,
  );
const volume = (name: string, spec: object, metadata: object = {}): ReturnType<typeof named> =>
  named(
    name,
    'v1',
    'PersistentVolume',
    { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' }, ...spec } },
    metadata,
  );

export const hostileStorage: Hostile[] = [
  {
    why: 'a claim with a selector of 10,000 expressions',
    resource: persistentVolumeClaims,
    objects: () => [
      claim('hostile-1', {
        storageClassName: '',
        selector: { matchExpressions: many(10_000, (at) => ({ key: `k-${at}`, operator: 'DoesNotExist' })) },
      }),
    ],
  },
  {
    why: 'a claim of a size as large as numbers go, with 20,000 labels',
    resource: persistentVolumeClaims,
    objects: () => [
      claim(
        'hostile-2',
        { resources: { requests: { storage: '9223372036854775807' } } },
        { labels: record(20_000, (at) => [`k-${at}`, 'v']) },
      ),
    ],
  },
  {
    why: 'a claim with an annotation of 250,000 marks',
    resource: persistentVolumeClaims,
    objects: () => [claim('hostile-3', {}, { annotations: { x: marks.slice(0, 250_000) } })],
  },
  {
    why: 'a volume with 10,000 node selector terms',
    resource: persistentVolumes,
    objects: () => [
      volume('hostile-4', {
        nodeAffinity: {
          required: { nodeSelectorTerms: many(10_000, (at) => ({ matchExpressions: [{ key: `k-${at}`, operator: 'Exists' }] })) },
        },
      }),
    ],
  },
  {
    why: '200 volumes of one class',
    resource: persistentVolumes,
    objects: () => many(200, (at) => volume(`v-${at}`, { storageClassName: 'x' })),
  },
  {
    why: 'a storage class with 5,000 topologies',
    resource: storageClasses,
    objects: () => [
      named('hostile-5', 'storage.k8s.io/v1', 'StorageClass', {
        provisioner: 'p',
        volumeBindingMode: 'WaitForFirstConsumer',
        allowedTopologies: many(5_000, (at) => ({ matchLabelExpressions: [{ key: `k-${at}`, values: ['v'] }] })),
      }),
    ],
  },
  {
    why: '100 default storage classes',
    resource: storageClasses,
    objects: () =>
      many(300, (at) =>
        named(
          `d-${at}`,
          'storage.k8s.io/v1',
          'StorageClass',
          { provisioner: 'p' },
          {
            annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
          },
        ),
      ),
  },
  {
    why: 'a CSINode with 5,000 drivers',
    resource: csiNodes,
    objects: () => [
      named('node-0', 'storage.k8s.io/v1', 'CSINode', {
        spec: {
          drivers: many(5_000, (at) => ({
            name: `d-${at}.example.com`,
            nodeID: 'n',
            topologyKeys: [`k-${at}`],
            allocatable: { count: 1 },
          })),
        },
      }),
    ],
  },
  {
    why: 'a CSI driver with an annotation of 250,000 marks',
    resource: csiDrivers,
    objects: () => [
      named('d.example.com', 'storage.k8s.io/v1', 'CSIDriver', { spec: {} }, { annotations: { x: marks.slice(0, 250_000) } }),
    ],
  },
];

export const hostileRest: Hostile[] = [
  {
    why: 'a budget whose selector has 10,000 expressions',
    // A server of 1.20 knows the older version alone.
    resource: podDisruptionBudgets,
    refusedBy: ['embedded'],
    objects: (server) => [
      named('hostile-6', server === 'real' ? `policy/${podDisruptionBudgetsBeta.version}` : 'policy/v1', 'PodDisruptionBudget', {
        spec: { minAvailable: 1, selector: { matchExpressions: many(10_000, (at) => ({ key: `k-${at}`, operator: 'DoesNotExist' })) } },
      }),
    ],
  },
  {
    why: '300 budgets over everything',
    resource: podDisruptionBudgets,
    refusedBy: ['embedded'],
    objects: (server) =>
      many(300, (at) =>
        named(`b-${at}`, server === 'real' ? `policy/${podDisruptionBudgetsBeta.version}` : 'policy/v1', 'PodDisruptionBudget', {
          spec: { minAvailable: 1, selector: {} },
        }),
      ),
  },
  {
    why: 'a priority class that says 500,000 marks',
    resource: priorityClasses,
    objects: () => [
      named('hostile-7', 'scheduling.k8s.io/v1', 'PriorityClass', { value: 1_000_000_000, description: marks.slice(0, 500_000) }),
    ],
  },
  {
    why: 'a namespace with 20,000 labels',
    resource: namespaces,
    objects: () => [named('hostile-labels', 'v1', 'Namespace', {}, { labels: record(20_000, (at) => [`k-${at}`, 'v']) })],
  },
  {
    why: 'a ConfigMap of 1 MB of marks',
    resource: configMaps,
    objects: () => [named('hostile-8', 'v1', 'ConfigMap', { data: { kubelet: marks.slice(0, 1_000_000) } })],
  },
  {
    why: 'a ConfigMap of 1 MB of brackets',
    resource: configMaps,
    objects: () => [named('hostile-9', 'v1', 'ConfigMap', { data: { kubelet: '['.repeat(1_000_000) } })],
  },
  {
    why: 'a ConfigMap of 20,000 keys',
    resource: configMaps,
    objects: () => [named('hostile-10', 'v1', 'ConfigMap', { data: record(20_000, (at) => [`k-${at}`, '']) })],
  },
  {
    why: 'a ConfigMap of what nobody sees, and of halves of characters',
    resource: configMaps,
    objects: () => [named('hostile-11', 'v1', 'ConfigMap', { data: { kubelet: invisible.repeat(50_000), half: '\udc00'.repeat(50_000) } })],
  },
  {
    why: 'events without end',
    resource: coreEvents,
    objects: (server) =>
      many(server === 'real' ? 5_000 : 500, (at) =>
        named(`e-${at}`, 'v1', 'Event', {
          involvedObject: { kind: 'Pod', name: 'p', namespace: NAMESPACE },
          reason: 'Hostile',
          message: 'x'.repeat(1_000),
          type: 'Warning',
          source: { component: 'hostile' },
        }),
      ),
  },
  {
    why: 'a lease that is 100,000 characters long',
    resource: leases,
    objects: () => [
      named('hostile-12', 'coordination.k8s.io/v1', 'Lease', {
        spec: { holderIdentity: marks.slice(0, 100_000), leaseDurationSeconds: 2 ** 31 - 1 },
      }),
    ],
  },
];
