import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec, Toleration, NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import { newPod } from '../../../../controllers/daemonset/actions.ts';
import type { Placement, Pod } from '../../../../controllers/common/types.ts';
import { targetNode } from '../../../../controllers/daemonset/pods.ts';
import { rulesOf } from '../../../../controllers/daemonset/rules.ts';
import { deepFreeze } from '../../../../kube/cache/sharing.ts';
import { daemonSet, templateOf, type SetOptions } from './notation.ts';

const GENERATION = 'deprecated.daemonset.template.generation';

function made(options: SetOptions & { placement?: Placement; present?: boolean; spec?: Partial<PodSpec> } = {}): Pod {
  const { placement = 'scheduler', present = true } = options;
  const set = deepFreeze(daemonSet(options));
  const template = present ? set.spec?.template : deepFreeze(templateOf('old', { tolerations: [{ key: 'old' }] }));
  assert.ok(template !== undefined);
  return newPod(rulesOf(set, placement), { node: 'a', hash: present ? 'new' : 'old', template, present });
}

const exists = (name: string, effect: string): Toleration => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect });
const pinned = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }] };
const term = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' }] });

test('a pod is what the template says, pinned to its node', () =>
  assert.deepEqual(made(), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'ds-',
      namespace: 'ns',
      labels: { app: 'x', 'controller-revision-hash': 'new' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid: 'ds-uid', controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      containers: [{ name: 'c', image: 'new' }],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: pinned } },
      tolerations: [
        exists('not-ready', 'NoExecute'),
        exists('unreachable', 'NoExecute'),
        exists('disk-pressure', 'NoSchedule'),
        exists('memory-pressure', 'NoSchedule'),
        exists('pid-pressure', 'NoSchedule'),
        exists('unschedulable', 'NoSchedule'),
      ],
    },
  }));

test('what the template requires of a node is replaced; what it prefers, and whom it wants to be near to, stays', () => {
  const preferred = [{ weight: 1, preference: term('disk') }];
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] };
  const required = { nodeSelectorTerms: [term('gpu'), { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }] };
  const { spec } = made({
    spec: {
      nodeSelector: { pool: 'x' },
      schedulerName: 'mine',
      affinity: {
        podAffinity,
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: required,
          preferredDuringSchedulingIgnoredDuringExecution: preferred,
        },
      },
    },
  });
  assert.deepEqual(spec?.affinity, {
    podAffinity,
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: pinned, preferredDuringSchedulingIgnoredDuringExecution: preferred },
  });
  assert.deepEqual([spec?.nodeSelector, spec?.schedulerName, spec?.nodeName], [{ pool: 'x' }, 'mine', undefined]);
});

test('a pod of an old revision has its template, hash and tolerations, and no count of the present template', () => {
  const annotations = { [GENERATION]: '7' };
  assert.equal(made({ annotations }).metadata.labels?.['pod-template-generation'], '7');
  const { metadata, spec } = made({ present: false, annotations });
  assert.deepEqual(metadata.labels, { app: 'x', 'controller-revision-hash': 'old' });
  assert.equal(spec?.containers[0]?.image, 'old');
  assert.deepEqual([spec?.tolerations?.[0], spec?.tolerations?.length], [{ key: 'old' }, 7]);
});

test('where the controller places pods they are on their node from the start, and no scheduler looks at them', () => {
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term('gpu')] } } };
  const pod = made({ placement: 'controller', spec: { affinity, schedulerName: 'mine' } });
  assert.deepEqual([pod.spec?.nodeName, pod.spec?.schedulerName], ['a', 'kubernetes.io/daemonset-controller']);
  assert.deepEqual(pod.spec?.affinity, affinity);
});

const field = (...values: string[]) => ({ key: 'metadata.name', operator: 'In', values });
const required = (...nodeSelectorTerms: NodeSelectorTerm[]): Partial<PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

const targets: { why: string; spec: Partial<PodSpec> | undefined; is: string | undefined }[] = [
  { why: 'where it is, whatever it was made for', spec: { nodeName: 'a', ...required({ matchFields: [field('b')] }) }, is: 'a' },
  { why: 'what it was made for', spec: required({ matchFields: [field('b')] }), is: 'b' },
  { why: 'none where it could be one of several', spec: required({ matchFields: [field('b', 'c')] }), is: undefined },
  { why: 'none where labels choose', spec: required(term('kubernetes.io/hostname')), is: undefined },
  { why: 'none without a spec', spec: undefined, is: undefined },
];
for (const { why, spec, is } of targets)
  test(`the node of a pod is ${why}`, () =>
    assert.equal(targetNode({ metadata: {}, ...(spec === undefined ? {} : { spec: { containers: [], ...spec } }) }), is));
