import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { withKindAlias } from '../../../../cli/dispatch.ts';
import { readRef } from '../../../../cli/explain/find-object.ts';
import { connectFlags } from '../../../../cli/connect/flags.ts';
import { Args } from '../../../../cli/args/args.ts';
import { claim, claimTemplate, pod, statefulSet, type SetOptions } from '../../controllers/statefulset/objects.ts';
import { runCli } from '../../../support/cli-context.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import { explainSet, type SetInCluster } from '../../../../controllers/daemonset/explain.ts';
import { explainStatefulSet, type StatefulSetInCluster } from '../../../../controllers/statefulset/explain.ts';
import type { DaemonSet, Pod } from '../../../../controllers/common/types.ts';
import type { OwnerReference } from '../../../../kube/api/object.ts';

const api = localApi(realClock);
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const spec = { selector: { matchLabels: { app: 'web' } }, template };

before(() => {
  api.add({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  for (const name of ['node-a', 'node-b']) api.add({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  for (const name of ['web', 'other'])
    api.add({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name, namespace: 'default' }, spec });
  api.add({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'shop' },
    spec: { ...spec, serviceName: 'db' },
  });
  api.add({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'none', namespace: 'shop' }, spec: { ...spec, serviceName: 'db', replicas: 0, selector: { matchLabels: { app: 'x' } }, template: { ...template, metadata: { labels: { app: 'x' } } } } }); // prettier-ignore
  for (const namespace of ['default', 'kube-system', 'shop'])
    api.add({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-9', namespace, labels: { app: 'web' } }, spec: { ...template.spec, nodeName: 'node-a' } }); // prettier-ignore
});

const rows = [
  { argv: 'why daemonset default/web', code: 0, out: /^NODE +REASON +DETAIL\nnode-a +budget +.*\nnode-b +creating +a pod is about to be created\n$/ },
  { argv: 'why ds default/web --node=node-b -o json', code: 0, out: /^\[\n {2}\{\n {4}"object": "node-b",\n {4}"reason": "creating",\n {4}"detail": "a pod is about to be created"\n {2}\}\n\]\n$/ },
  { argv: 'why sts/db -n shop', code: 0, out: /^OBJECT +REASON +DETAIL\ndb-0 +creating +.*\ndb-9 +leaving +.*\n$/ },
  { argv: 'why statefulset shop/none', code: 0, out: /^Nothing to explain: StatefulSet shop\/none has no pods and needs none\.\n$/ },
  { argv: 'why daemonset default/wep', code: 3, err: 'Cannot explain DaemonSet default/wep: no such set; did you mean default/web?' },
  { argv: 'why daemonset default/zzzzzz', code: 3, err: 'Cannot explain DaemonSet default/zzzzzz: no such set; namespace default has other, web' },
  { argv: 'why daemonset nowhere/web', code: 3, err: 'Cannot explain DaemonSet nowhere/web: no such set; namespace nowhere has none' },
  { argv: 'why daemonset default/web --node=node-c', code: 3, err: 'Cannot explain DaemonSet default/web on node node-c: no such node; did you mean node-a?' },
  { argv: 'why daemonset a/b/web', code: 2, err: 'why daemonset: "a/b/web" must be NAME or NAMESPACE/NAME; see dkc why daemonset --help' },
]; // prettier-ignore
for (const { argv, code, out = /^$/, err } of rows)
  test(`dkc ${argv} ends with ${code}`, async () => {
    const { stdout, ...ran } = await runCli(argv.split(' '), { connect: async () => localClient(api) });
    assert.deepEqual(ran, { code, stderr: err === undefined ? '' : `dkc: ${err}\n` });
    assert.match(stdout, out);
  });

const kinds: { typed: string; is: string }[] = [
  { typed: 'why sts/db -o json', is: 'why statefulset db -o json' },
  { typed: 'why po/big -n shop', is: 'why pod big -n shop' },
  { typed: 'why -n shop pod big', is: 'why pod -n shop big' },
  { typed: 'why --as bob --request-timeout 5 sts db', is: 'why statefulset --as bob --request-timeout 5 db' },
  { typed: 'why --namespace=shop --context dev sts/db', is: 'why statefulset --namespace=shop --context dev db' },
  { typed: 'why maxPods', is: 'why maxPods' },
];
for (const { typed, is } of kinds)
  test(`dkc ${typed} is dkc ${is}`, () => assert.deepEqual(withKindAlias(typed.split(' ')), is.split(' ')));

test('a namespace is that of the name, of the flag, of the context, or default', async () => {
  const found = async (name: string, flag?: string, context?: string): Promise<string> => {
    const flags = new Map<string, string | undefined>([...connectFlags.map(({ name }) => [name, undefined] as const), ['namespace', flag]]);
    const ref = await readRef(
      { path: (text) => text, namespaceOf: async () => context },
      new Args(flags, new Map([['name', [name]]])),
      'why pod',
    );
    return `${ref.namespace}/${ref.name}`;
  };
  const all = [found('shop/db', undefined, 'dev'), found('db', 'shop', 'dev'), found('db', undefined, 'dev'), found('db')];
  assert.deepEqual(await Promise.all(all), ['shop/db', 'shop/db', 'dev/db', 'default/db']);
});

const metadata = { name: 'set', namespace: 'default', uid: 'u' };
const set = (over: Partial<DaemonSet>): DaemonSet => ({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec, ...over });
const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'set', uid: 'u', controller: true };
const left = (nodeName: string, status: Pod['status'], metadata: Pod['metadata']): Pod => ({
  metadata: { name: 'left', namespace: 'default', uid: 'p', labels: { app: 'web' }, ownerReferences: [owner], ...metadata },
  spec: { containers: [], nodeName },
  ...(status && { status }),
});
const node = (name: string, spec: object = {}, status: object = {}) => ({ metadata: { name }, spec, status });
const hostPort = { ...template, spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] }] } };
const taint = { key: 'k', value: 'v', effect: 'NoSchedule' };
const event = (reason: string, second: string) => ({ metadata: { name: `web.${reason}` }, reason, message: `${reason} it is`, lastTimestamp: `2026-03-01T12:00:${second}Z` }); // prettier-ignore
const deletionTimestamp = '2026-01-01T00:00:00Z';
const creating = 'a creating a pod is about to be created';
const ofDaemonSets: { why: string; seen: Partial<SetInCluster>; says: string[] }[] = [
  { why: 'whose pods the server refuses', seen: { events: [event('SuccessfulCreate', '10'), event('FailedCreate', '09'), event('FailedCreate', '10'), event('Unknown', '11')] }, says: ['a creating a pod is to be created; the last attempt failed at 2026-03-01T12:00:10Z: FailedCreate it is'] },
  { why: 'whose pods the server took since it refused one', seen: { events: [event('FailedSync', '09'), event('SuccessfulCreate', '10')] }, says: [creating] },
  { why: 'on a node that is tainted', seen: { nodes: [node('b', { taints: [taint] }), node('a')] }, says: [creating, 'b taint taint k=v:NoSchedule is not tolerated'] },
  { why: 'whose selector is empty', seen: { set: set({ spec: { selector: {}, template } }) }, says: ['a selector the set is not synced: its selector is empty and would select all pods'] },
  { why: 'that is being deleted', seen: { set: set({ metadata: { ...metadata, deletionTimestamp } }) }, says: ['a deleting the set is terminating; the garbage collector deletes its pods'] },
  { why: 'whose pod is going', seen: { pods: [left('a', {}, { deletionTimestamp })] }, says: ['a terminating pod left is terminating, grace period ends at 2026-01-01T00:00:00Z; the next pod is created once this one is deleted'] },
  { why: 'whose pod is going while it surges, which does not wait for that', seen: { set: set({ spec: { ...spec, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } } }), pods: [left('a', {}, { deletionTimestamp })] }, says: [creating] },
  { why: 'with what is left of a node that is gone', seen: { pods: [left('z', { phase: 'Failed' }, { deletionTimestamp })] }, says: [creating, 'z no-node the node does not exist; pod left waits for it or is left over'] },
  { why: 'whose port is taken, where the controller looks for room', seen: { placement: 'controller', set: set({ spec: { ...spec, template: hostPort } }), nodes: [node('a', {}, { allocatable: { cpu: '4', memory: '4Gi', pods: '10' } })], pods: [{ metadata: { name: 'x', namespace: 'other' }, spec: { ...hostPort.spec, nodeName: 'a' } }] }, says: ['a host-ports another pod has host port 80'] },
]; // prettier-ignore
for (const { why, seen, says } of ofDaemonSets)
  test(`a DaemonSet ${why} is explained by the controller's decision`, () => {
    const cluster = {
      set: set({}),
      nodes: [node('a')],
      pods: [],
      revisions: [],
      events: [],
      now: 0,
      placement: 'scheduler' as const,
      ...seen,
    };
    assert.deepEqual(explainSet(cluster).map(({ object, reason, detail }) => `${object} ${reason} ${detail}`), says); // prettier-ignore
  });

const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '1970-01-01T00:00:00Z' }] };
/** Of an old revision, and the set's own. */
function owned(ordinal: number, status: NonNullable<Pod['status']> = ready, claims: readonly string[] = []): Pod {
  const of = pod(ordinal, claims);
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set-uid', controller: true };
  const metadata = { ...of.metadata, labels: { ...of.metadata.labels, 'controller-revision-hash': 'web-old' }, ownerReferences: [owner] };
  return { ...of, metadata, spec: { containers: [], ...of.spec, nodeName: 'a' }, status };
}

const going = (ordinal: number): Pod['metadata'] => ({ ...pod(ordinal).metadata, deletionTimestamp: '2026-01-01T00:00:00Z' });
function former(ordinal: number): Pod {
  const of = owned(ordinal);
  return { ...of, metadata: { ...of.metadata, ownerReferences: [{ ...controllerOf(of), uid: 'former' }] as OwnerReference[] } };
}

const [claims, classes] = [[claim('data-web-0', {}, { storageClassName: 'slow' })], [{ metadata: { name: 'slow' }, provisioner: 'p' }]];
const failedSync = { metadata: { name: 'web.1' }, reason: 'FailedSync', message: 'no', lastTimestamp: '2026-03-01T12:00:00Z' };
const taken = 'name-taken a pod with this name exists and is not owned by this StatefulSet:';
const ofStatefulSets: { why: string; set: SetOptions; deleting?: boolean; seen?: Partial<StatefulSetInCluster>; says: string[] }[] = [
  { why: 'whose names others have', set: { spec: { replicas: 3, podManagementPolicy: 'Parallel' } }, seen: { pods: [former(0), { ...pod(1), metadata: { name: 'web-1', namespace: 'ns' } }, { ...pod(2), metadata: going(2) }] }, says: [`web-0 ${taken} its owner is StatefulSet web with uid former; the pod is created once that one is deleted`, `web-1 ${taken} its labels do not match the selector; the pod is created once that one is deleted`, `web-2 ${taken} it is terminating; the pod is created once that one is deleted`] },
  { why: 'whose revision the server refuses', set: { spec: { replicas: 1 } }, seen: { events: [failedSync] }, says: ['web-0 creating it is to be created; the last attempt failed at 2026-03-01T12:00:00Z: no'] },
  { why: 'with an annotation that cannot be read, whose pod should go', set: { spec: { replicas: 0 }, annotations: { 'dkc.dev/paused': 'yes' } }, seen: { pods: [owned(0)] }, says: ['web annotation rollout and scale-down are paused: invalid annotation: dkc.dev/paused is "yes"; write "true" or "false"', 'web-0 scaling-down its ordinal is no longer part of the set'] },
  { why: 'with a claim that cannot grow', set: { spec: { replicas: 1 }, annotations: { 'dkc.dev/paused': 'true', 'dkc.dev/expand-claims': 'true' }, claims: [claimTemplate('data', '2Gi')] }, seen: { pods: [owned(0, ready, ['data'])], claims, classes }, says: ['web-0 paused of an old revision; dkc.dev/paused stops updates', 'data-web-0 cannot-expand it is smaller than the 2Gi of its template, and storage class slow does not set allowVolumeExpansion'] },
  { why: 'whose selector is empty', set: { spec: { selector: {} } }, says: ['web selector the set is not synced: its selector is invalid, or is empty and would select all pods'] },
  { why: 'that is being deleted', set: {}, deleting: true, seen: { pods: [owned(0)] }, says: ['web deleting the set is terminating; the garbage collector deletes its pods'] },
  { why: 'that wants no pods', set: { spec: { replicas: 0 } }, says: [] },
]; // prettier-ignore
for (const { why, set: options, deleting = false, seen, says } of ofStatefulSets)
  test(`a StatefulSet ${why} is explained by the controller's decision`, () => {
    const set = statefulSet(options);
    if (deleting) set.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    const cluster: StatefulSetInCluster = { set, pods: [], claims: [], revisions: [], classes: [], events: [], now: 0, ...seen };
    assert.deepEqual(explainStatefulSet(cluster).map(({ object, reason, detail }) => `${object} ${reason} ${detail}`), says); // prettier-ignore
  });
