import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import { pvcsOf, hasIdentity, hasStorage, isStale, repaired } from '../../../../controllers/statefulset/storage.ts';
import { newPod } from '../../../../controllers/statefulset/actions.ts';
import type { Pvc, Pod, PodTemplate } from '../../../../controllers/common/types.ts';
import { claim, lookupOf, pod, statefulSet } from './objects.ts';

const two = rulesOf(statefulSet({ claims: ['data', 'log'] }));

test('claims are copies of their templates, named after template and pod, and found as pods are', () => {
  const template: Pvc = {
    metadata: {
      name: 'data',
      labels: { app: 'other', tier: 'gold' },
      annotations: { note: 'kept' },
      finalizers: ['example.com/backup'],
      creationTimestamp: null as unknown as string,
      resourceVersion: '3',
    },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
    status: { phase: 'Pending' },
  };
  const set = statefulSet({ claims: [template], spec: { selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'zone', operator: 'Exists' }] } } }); // prettier-ignore
  assert.deepEqual(pvcsOf(rulesOf(set), 2), [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: 'data-web-2',
        namespace: 'ns',
        labels: { app: 'web', tier: 'gold' },
        annotations: { note: 'kept' },
        finalizers: ['example.com/backup'],
      },
      spec: template.spec,
    },
  ]);
});

const ref = (over: { name?: string; uid?: string } = {}) => ({ apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'earlier', ...over });
const stale: { why: string; whenScaled?: 'Retain'; there?: Pod; refs?: ReturnType<typeof ref>[]; is: boolean }[] = [
  { why: 'one of an earlier pod, for a pod to be made', refs: [ref()], is: true },
  { why: 'but not where claims are retained', whenScaled: 'Retain', refs: [ref()], is: false },
  { why: 'but not its own', there: pod(0), refs: [ref({ uid: 'web-0-uid' })], is: false },
  { why: 'but not one of another pod', refs: [ref({ name: 'web-1' })], is: false },
];
for (const { why, whenScaled = 'Delete', there, refs = [], is } of stale)
  test(`a claim is stale: ${why}`, () => {
    const spec = { persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted: 'Delete' } };
    const rules = rulesOf(statefulSet({ spec, claims: ['data', 'log'] }));
    assert.equal(isStale(rules, there, 0, lookupOf(claim('data-web-0', { ownerReferences: refs }))), is);
  });

/** As `change` leaves it. */
function changed(from: Pod, change: (pod: Pod) => void): Pod {
  const copy = structuredClone(from);
  change(copy);
  return copy;
}
const relabelled = (label: string): Pod =>
  changed(pod(0, ['data', 'log']), ({ metadata }) => {
    metadata.labels = { ...metadata.labels, 'statefulset.kubernetes.io/pod-name': label };
  });

const identities: { why: string; pod: Pod; is: boolean }[] = [
  { why: 'as it was made', pod: pod(0), is: true },
  { why: 'with the label of another', pod: relabelled('web-1'), is: false },
];
for (const { why, pod, is } of identities) test(`identity of a pod ${why}`, () => assert.equal(hasIdentity(pod, two), is));

const storages: { why: string; pod: Pod; is: boolean }[] = [
  { why: 'as it was made', pod: pod(0, ['log', 'data']), is: true },
  { why: 'without volumes', pod: changed(pod(0), (p) => delete p.spec?.volumes), is: false },
  {
    why: 'with a volume that is no claim',
    pod: changed(pod(0, ['data', 'log']), (p) => p.spec?.volumes?.splice(1, 1, { name: 'log', emptyDir: {} })),
    is: false,
  },
];
for (const { why, pod, is } of storages) test(`storage of a pod that is ${why}`, () => assert.equal(hasStorage(two, pod, 0), is));

test('a repair of labels touches labels alone', () => {
  const volumes = [{ name: 'tmp', emptyDir: {} }, ...(pod(0, ['log', 'data']).spec?.volumes ?? [])];
  const broken = changed(relabelled('web-1'), (p) => {
    delete p.metadata.labels?.['apps.kubernetes.io/pod-index'];
    p.spec = { containers: [], ...p.spec, volumes };
  });
  const before = structuredClone(broken);
  const made = repaired(two, broken, 0);
  assert.deepEqual(made, { ...broken, metadata: { ...broken.metadata, labels: pod(0).metadata.labels } });
  assert.deepEqual(broken, before);
});

test('a repair of volumes keeps the others', () => {
  const broken = changed(pod(0, ['log']), (p) => p.spec?.volumes?.push({ name: 'data', emptyDir: {} }, { name: 'tmp', emptyDir: {} }));
  const before = structuredClone(broken);
  const made = repaired(two, broken, 0);
  assert.deepEqual(made, {
    ...broken,
    spec: {
      ...broken.spec,
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } },
        { name: 'log', persistentVolumeClaim: { claimName: 'log-web-0' } },
        { name: 'tmp', emptyDir: {} },
      ],
    },
  });
  assert.deepEqual(broken, before);
});

const template: PodTemplate = {
  metadata: {
    // The last three are not for a template to say.
    labels: {
      app: 'web',
      tier: 'front',
      'controller-revision-hash': 'x',
      'statefulset.kubernetes.io/pod-name': 'x',
      'apps.kubernetes.io/pod-index': 'x',
    },
    annotations: { note: 'x' },
    finalizers: ['example.com/wait'],
  },
  spec: {
    containers: [{ name: 'c', image: 'new' }],
    hostname: 'mine',
    subdomain: 'mine',
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'scratch', emptyDir: {} },
    ],
  },
};

test('a new pod has its name, its host name, its labels and its claims', () => {
  assert.deepEqual(newPod(two, { name: 'web-12', ordinal: 12, revision: 'web-abc', template }), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'web-',
      name: 'web-12',
      namespace: 'ns',
      labels: {
        app: 'web',
        tier: 'front',
        'statefulset.kubernetes.io/pod-name': 'web-12',
        'apps.kubernetes.io/pod-index': '12',
        'controller-revision-hash': 'web-abc',
      },
      annotations: { note: 'x' },
      finalizers: ['example.com/wait'],
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set-uid', controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      containers: [{ name: 'c', image: 'new' }],
      hostname: 'web-12',
      subdomain: 'web',
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: 'data-web-12' } },
        { name: 'log', persistentVolumeClaim: { claimName: 'log-web-12' } },
        { name: 'scratch', emptyDir: {} },
      ],
    },
  });
});
