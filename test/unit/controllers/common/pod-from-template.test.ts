import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namePrefix, podFromTemplate } from '../../../../controllers/common/pod-from-template.ts';
import { deepFreeze } from '../../../../kube/cache/structural-sharing.ts';
import { daemonSets } from '../../../../kube/api/resources.ts';

const owner = { metadata: { name: 'ds', namespace: 'ns', uid: 'ds-uid' } };
const spec = { containers: [{ name: 'c', image: 'x' }] };

test('a pod has what its template has, and its owner', () => {
  const template = deepFreeze({
    metadata: { labels: { app: 'x' }, annotations: { note: 'n' }, finalizers: ['example.com/f'], name: 'never' },
    spec,
  });
  assert.deepEqual(podFromTemplate(template, owner, daemonSets), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'ds-',
      namespace: 'ns',
      labels: { app: 'x' },
      annotations: { note: 'n' },
      finalizers: ['example.com/f'],
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid: 'ds-uid', controller: true, blockOwnerDeletion: true },
      ],
    },
    spec,
  });
});

test('a pod has no annotations and finalizers where its template has none', () =>
  assert.deepEqual(Object.keys(podFromTemplate({ metadata: { labels: { app: 'x' } }, spec }, owner, daemonSets).metadata).toSorted(), [
    'generateName',
    'labels',
    'namespace',
    'ownerReferences',
  ]));

test('a pod without labels is not made: nobody would find it', () => {
  for (const metadata of [undefined, {}, { labels: {} }])
    assert.throws(() => podFromTemplate(metadata === undefined ? { spec } : { metadata, spec }, owner, daemonSets), {
      message: 'unable to create pods, no labels',
    });
});

const names = [
  { why: 'ends in a dash', name: 'web', is: 'web-' },
  { why: 'may hold dots and digits', name: '0.web.1', is: '0.web.1-' },
  { why: 'is the name alone where a dash would make none', name: 'web.', is: 'web.' },
  { why: 'is the name alone where it is none by itself', name: 'Web', is: 'Web' },
];
for (const { why, name, is } of names) test(`the prefix of a pod's name ${why}`, () => assert.equal(namePrefix(name), is));
