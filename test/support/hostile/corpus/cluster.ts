import {
  configMaps,
  coreEvents,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  podDisruptionBudgetsBeta,
  type Resource,
  storageClasses,
} from '../../../../kube/api/object.ts';
import { expressions, type Hostile, invisible, many, marks, named, NAMESPACE, pairs, record, row, unique } from './hostile.ts';

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
  node('20,000 labels', { metadata: { labels: pairs(20_000) } }),
  node('5,000 taints', { spec: { taints: many(5_000, (at) => ({ key: `k-${at}`, value: 'v', effect: 'NoSchedule' })) } }),
  node('10,000 images', { status: { images: many(10_000, (at) => ({ names: [`i-${at}`], sizeBytes: 2 ** 40 })) } }),
  node('10,000 resources', { status: { allocatable: { ...room, ...record(10_000, (at) => [`example.com/r-${at}`, '1']) } } }),
  node('an annotation of 250,000 marks', { metadata: { annotations: { 'dkc.dev/x': marks.slice(0, 250_000) } } }),
];

const claim = (spec: object, metadata: object = {}): { spec: object; metadata: object } => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  metadata,
});
const volume = (spec: object): { spec: object } => ({
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' }, ...spec },
});
const largest = '9223372036854775807';
const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };

export const hostileStorage: Hostile[] = [
  row(persistentVolumeClaims, 'a claim with a selector of 10,000 expressions', () =>
    claim({ storageClassName: '', selector: { matchExpressions: expressions(10_000) } }),
  ),
  row(persistentVolumeClaims, 'a claim of a size as large as numbers go, with 20,000 labels', () =>
    claim({ resources: { requests: { storage: largest } } }, { labels: pairs(20_000) }),
  ),
  row(persistentVolumes, 'a volume with 10,000 node selector terms', () => {
    const nodeSelectorTerms = expressions(10_000, 'Exists').map((one) => ({ matchExpressions: [one] }));
    return volume({ nodeAffinity: { required: { nodeSelectorTerms } } });
  }),
  row(storageClasses, 'a storage class with 5,000 topologies', () => ({
    provisioner: 'p',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: many(5_000, (at) => ({ matchLabelExpressions: [{ key: `k-${at}`, values: ['v'] }] })),
  })),
  row(storageClasses, '300 default storage classes', () => ({ provisioner: 'p', metadata: { annotations: isDefault } }), { count: 300 }),
];

/** A server of 1.20 knows the older version alone. */
const budgets = (why: string, count: number, spec: (at: number) => object): Hostile => {
  const of = (resource: Resource): Hostile => row(resource, why, (at) => ({ spec: spec(at) }), { count, refusedBy: ['embedded'] });
  const [beta, today] = [of(podDisruptionBudgetsBeta), of(podDisruptionBudgets)];
  return { ...today, objects: (server) => (server === 'real' ? beta : today).objects(server) };
};
const event = {
  involvedObject: { kind: 'Pod', name: 'p', namespace: NAMESPACE },
  reason: 'Hostile',
  message: 'x'.repeat(1_000),
  type: 'Warning',
  source: { component: 'hostile' },
};
const configMap = (why: string, data: () => object): Hostile => row(configMaps, `a ConfigMap of ${why}`, () => ({ data: data() }));

export const hostileRest: Hostile[] = [
  budgets('a budget whose selector has 10,000 expressions', 1, () => ({
    minAvailable: 1,
    selector: { matchExpressions: expressions(10_000) },
  })),
  budgets('300 budgets over everything', 300, () => ({ minAvailable: 1, selector: {} })),
  configMap('1 MB of marks', () => ({ kubelet: marks.slice(0, 1_000_000) })),
  configMap('1 MB of brackets', () => ({ kubelet: '['.repeat(1_000_000) })),
  configMap('what nobody sees, and of halves of characters', () => ({ kubelet: invisible.repeat(50_000), half: '\udc00'.repeat(50_000) })),
  {
    why: 'events without end',
    resource: coreEvents,
    objects: (server) => many(server === 'real' ? 5_000 : 500, (at) => named(`e-${at}`, 'v1', 'Event', event)),
  },
];
