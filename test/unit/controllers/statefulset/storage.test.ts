import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import { pvcsOf, hasIdentity, hasStorage, isStale, planStorage, repaired } from '../../../../controllers/statefulset/storage.ts';
import type { Pvc, Pod } from '../../../../controllers/common/types.ts';
import { claim, lookupOf, pod, statefulSet } from './objects.ts';

const two = rulesOf(statefulSet({ claims: ['data', 'log'] }));
const going = '2026-01-01T00:00:00Z';

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
  const set = statefulSet({
    claims: [template],
    spec: { selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'zone', operator: 'Exists' }] } },
  });
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

const plans: { why: string; there: Pvc[]; create: string[]; going?: string[] }[] = [
  { why: 'makes all', there: [], create: ['data-web-0', 'log-web-0'] },
  { why: 'makes what is missing', there: [claim('data-web-0')], create: ['log-web-0'] },
  { why: 'takes what is there as it is', there: [claim('data-web-0', {}, { storageClassName: 'slow' }), claim('log-web-0')], create: [] },
  {
    why: 'waits for what is going',
    there: [claim('data-web-0', { deletionTimestamp: going }), claim('log-web-0')],
    create: [],
    going: ['data-web-0'],
  },
  {
    why: 'tells what is missing beside what is going',
    there: [claim('data-web-0', { deletionTimestamp: going })],
    create: ['log-web-0'],
    going: ['data-web-0'],
  },
];
for (const { why, there, create, going: leaving = [] } of plans)
  test(`storage of a pod: ${why}`, () => {
    const plan = planStorage(two, 0, lookupOf(...there));
    assert.deepEqual({ create: plan.create.map(({ metadata }) => metadata.name), going: plan.terminating }, { create, going: leaving });
  });

const ref = (over: Partial<{ apiVersion: string; kind: string; name: string; uid: string }> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  name: 'web-0',
  uid: 'earlier',
  ...over,
});
const stale: { why: string; whenScaled?: 'Retain'; there?: Pod; refs?: ReturnType<typeof ref>[]; of?: string; is: boolean }[] = [
  { why: 'one of an earlier pod, for a pod to be made', refs: [ref()], is: true },
  { why: 'but not where claims are retained', whenScaled: 'Retain', refs: [ref()], is: false },
  { why: 'but not its own', there: pod(0), refs: [ref({ uid: 'web-0-uid' })], is: false },
  { why: 'but not one of the set', refs: [ref({ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' })], is: false },
  { why: 'but not one of another pod', refs: [ref({ name: 'web-1' })], is: false },
];
for (const { why, whenScaled = 'Delete', there, refs = [], of = 'data-web-0', is } of stale)
  test(`a claim is stale: ${why}`, () => {
    const spec = { persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted: 'Delete' } };
    const rules = rulesOf(statefulSet({ spec, claims: ['data', 'log'] }));
    assert.equal(isStale(rules, there, 0, lookupOf(claim(of, { ownerReferences: refs }))), is);
  });

/** As `change` leaves it. */
function changed(from: Pod, change: (pod: Pod) => void): Pod {
  const copy = structuredClone(from);
  change(copy);
  return copy;
}
const relabelled = (label: string | undefined): Pod =>
  changed(pod(0, ['data', 'log']), ({ metadata }) => {
    delete metadata.labels?.['statefulset.kubernetes.io/pod-name'];
    if (label !== undefined) metadata.labels = { ...metadata.labels, 'statefulset.kubernetes.io/pod-name': label };
  });

const identities: { why: string; pod: Pod; is: boolean }[] = [
  { why: 'as it was made', pod: pod(0), is: true },
  {
    why: 'without index, host name and subdomain',
    pod: changed(pod(0), (p) => delete p.metadata.labels?.['apps.kubernetes.io/pod-index']),
    is: true,
  },
  { why: 'without its label', pod: relabelled(undefined), is: false },
  { why: 'with the label of another', pod: relabelled('web-1'), is: false },
  { why: 'in another namespace', pod: changed(pod(0), (p) => (p.metadata.namespace = 'other')), is: false },
];
for (const { why, pod, is } of identities) test(`identity of a pod ${why}`, () => assert.equal(hasIdentity(pod, two), is));

const storages: { why: string; pod: Pod; is: boolean }[] = [
  { why: 'as it was made', pod: pod(0, ['log', 'data']), is: true },
  { why: 'without volumes', pod: changed(pod(0), (p) => delete p.spec?.volumes), is: false },
  { why: 'with claims of another pod', pod: pod(1, ['data', 'log']), is: false },
  {
    why: 'with a volume that is no claim',
    pod: changed(pod(0, ['data', 'log']), (p) => p.spec?.volumes?.splice(1, 1, { name: 'log', emptyDir: {} })),
    is: false,
  },
  {
    why: 'with more than that',
    pod: changed(pod(0, ['data', 'log']), (p) => p.spec?.volumes?.push({ name: 'tmp', emptyDir: {} })),
    is: true,
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

for (const [why, broken] of [
  ['labels', relabelled(undefined)],
  ['volumes', pod(0)],
  ['both', changed(relabelled('x'), (p) => delete p.spec?.volumes)],
] as const)
  test(`a pod whose ${why} were wrong is right after one repair`, () => {
    const made = repaired(two, broken, 0);
    assert.deepEqual([hasIdentity(made, two), hasStorage(two, made, 0)], [true, true]);
    assert.deepEqual(repaired(two, made, 0), made);
  });
