import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPod } from '../../../../controllers/statefulset/actions.ts';
import { rulesOf } from '../../../../controllers/statefulset/rules.ts';
import type { Pod, PodTemplate } from '../../../../controllers/common/types.ts';
import { statefulSet } from './objects.ts';

const template: PodTemplate = {
  metadata: { labels: { app: 'web', tier: 'front' }, annotations: { note: 'x' }, finalizers: ['example.com/wait'] },
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
const made = (template: PodTemplate, spec: Parameters<typeof statefulSet>[0] = {}): Pod =>
  newPod(rulesOf(statefulSet(spec)), { name: 'web-12', ordinal: 12, revision: 'web-abc', template });

test('a new pod has its name, its host name, its labels and its claims', () => {
  assert.deepEqual(made(template, { claims: ['data', 'log'] }), {
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

test('a new pod overrules labels of its template that are not its to say', () => {
  const lies = {
    app: 'web',
    'controller-revision-hash': 'x',
    'statefulset.kubernetes.io/pod-name': 'x',
    'apps.kubernetes.io/pod-index': 'x',
  };
  assert.deepEqual(made({ ...template, metadata: { labels: lies } }).metadata.labels, {
    app: 'web',
    'statefulset.kubernetes.io/pod-name': 'web-12',
    'apps.kubernetes.io/pod-index': '12',
    'controller-revision-hash': 'web-abc',
  });
});
