import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { whyStatefulSet, type ExplainStatefulSet } from '../../../../cli/controllers/why-statefulset.ts';
import { dispatch } from '../../../../cli/dispatch.ts';
import { claim, claimTemplate, pod, statefulSet, type SetOptions } from '../../controllers/statefulset/objects.ts';
import { cliContext, runCli, type Ran } from '../../../support/cli-context.ts';
import { controllerOf } from '../../../../kube/controller/owners.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import { type Explained, explainStatefulSet, type StatefulSetInCluster } from '../../../../controllers/statefulset/explain.ts';
import type { Pod } from '../../../../controllers/common/types.ts';
import type { KubeObject, OwnerReference } from '../../../../kube/api/object.ts';

const api = localApi(realClock);

before(() => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const of = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    spec: { serviceName: 'web', selector: { matchLabels: { app: 'web' } }, template },
  };
  api.add({ ...of, metadata: { name: 'web', namespace: 'default' } });
  api.add({ ...of, metadata: { name: 'other', namespace: 'default', annotations: { 'dkc.dev/expand-claims': 'true' } } });
  api.add({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'fast' }, provisioner: 'p' });
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  for (const namespace of ['default', 'kube-system']) {
    api.add({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-9', namespace, labels: { app: 'web' } }, spec: template.spec });
    api.add({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data-web-0', namespace }, spec });
  }
});

const connect = async () => localClient(api);

async function why(argv: readonly string[], explain: ExplainStatefulSet = explainStatefulSet): Promise<Ran> {
  const { context, out, err } = cliContext({ connect });
  const load = async () => whyStatefulSet(explain);
  const entry = { name: 'why statefulset', summary: 'Say', group: 'Controllers', load } as const;
  const code = await dispatch([entry], ['why', 'statefulset', ...argv], context);
  return { code, stdout: out(), stderr: err() };
}

test('why statefulset tells it in a table; a set without pods is said in words', async () => {
  const table = await why(['default/web'], () => [{ object: 'web-0', reason: 'NotReady', detail: 'not ready' }, { object: 'web-1', reason: 'runs', detail: 'available' }]); // prettier-ignore
  assert.deepEqual([table.code, table.stderr], [0, '']);
  assert.equal(table.stdout, 'OBJECT   REASON     DETAIL\nweb-0    NotReady   -\nweb-1    runs       available\n');
  assert.equal((await why(['default/web'], () => [])).stdout, 'Nothing to explain: StatefulSet default/web has no pods and needs none.\n');
});

test('the explanation sees the set, what is in its namespace, and classes of storage only for a set that asks for growth', async () => {
  let seen: StatefulSetInCluster | undefined;
  const look: ExplainStatefulSet = (facts) => {
    seen = facts;
    return [];
  };
  const names = (objects: readonly Readonly<KubeObject>[] = []) =>
    objects.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`);
  await why(['default/web'], look);
  assert.deepEqual(
    [seen?.set.metadata.name, names(seen?.pods), names(seen?.claims), seen?.revisions, seen?.classes],
    ['web', ['default/web-9'], ['default/data-web-0'], [], []],
  );
  assert.ok(seen !== undefined && Math.abs(seen.now - Date.now()) < 60_000);
  await why(['default/other'], look);
  assert.deepEqual(names(seen.classes), ['/fast']);
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
const told: { why: string; set: SetOptions; deleting?: boolean; seen?: Partial<StatefulSetInCluster>; says: string[] }[] = [
  { why: 'whose names others have', set: { spec: { replicas: 3, podManagementPolicy: 'Parallel' } }, seen: { pods: [former(0), { ...pod(1), metadata: { name: 'web-1', namespace: 'ns' } }, { ...pod(2), metadata: going(2) }] }, says: [`web-0 ${taken} its owner is StatefulSet web with uid former; the pod is created once that one is deleted`, `web-1 ${taken} its labels do not match the selector; the pod is created once that one is deleted`, `web-2 ${taken} it is terminating; the pod is created once that one is deleted`] },
  { why: 'whose revision the server refuses', set: { spec: { replicas: 1 } }, seen: { events: [failedSync] }, says: ['web-0 creating it is to be created; the last attempt failed at 2026-03-01T12:00:00Z: no'] },
  { why: 'with an annotation that cannot be read, whose pod should go', set: { spec: { replicas: 0 }, annotations: { 'dkc.dev/paused': 'yes' } }, seen: { pods: [owned(0)] }, says: ['web annotation rollout and scale-down are paused: invalid annotation: dkc.dev/paused is "yes"; write "true" or "false"', 'web-0 scaling-down its ordinal is no longer part of the set'] },
  { why: 'with a claim that cannot grow', set: { spec: { replicas: 1 }, annotations: { 'dkc.dev/paused': 'true', 'dkc.dev/expand-claims': 'true' }, claims: [claimTemplate('data', '2Gi')] }, seen: { pods: [owned(0, ready, ['data'])], claims, classes }, says: ['web-0 paused of an old revision; dkc.dev/paused stops updates', 'data-web-0 cannot-expand it is smaller than the 2Gi of its template, and storage class slow does not set allowVolumeExpansion'] },
  { why: 'whose selector is empty', set: { spec: { selector: {} } }, says: ['web selector the set is not synced: its selector is invalid, or is empty and would select all pods'] },
  { why: 'that is being deleted', set: {}, deleting: true, seen: { pods: [owned(0)] }, says: ['web deleting the set is terminating; the garbage collector deletes its pods'] },
  { why: 'that wants no pods', set: { spec: { replicas: 0 } }, says: [] },
]; // prettier-ignore
for (const { why, set: options, deleting = false, seen, says } of told)
  test(`a set ${why} is explained by the controller's decision`, () => {
    const set = statefulSet(options);
    if (deleting) set.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    const cluster: StatefulSetInCluster = { set, pods: [], claims: [], revisions: [], classes: [], events: [], now: 0, ...seen };
    assert.deepEqual(explainStatefulSet(cluster).map(({ object, reason, detail }) => `${object} ${reason} ${detail}`), says); // prettier-ignore
  });

test('dkc why statefulset explains by that', async () => {
  const { code, stdout } = await runCli(['why', 'statefulset', 'default/web', '-o', 'json'], { connect });
  assert.equal(code, 0);
  const lines = (JSON.parse(stdout) as Explained[]).map(({ object, reason }) => `${object} ${reason}`);
  assert.deepEqual(lines, ['web-0 creating', 'web-9 leaving']);
});
