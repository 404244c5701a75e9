import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { realClock } from '../../../../base/clock.ts';
import { dispatch } from '../../../../cli/dispatch.ts';
import { whyDaemonSet, type ExplainSet } from '../../../../cli/controllers/why-daemonset.ts';
import { cliContext, runCli, type Ran } from '../../../support/cli-context.ts';
import { localApi, localClient } from '../../../support/embedded-api.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { DaemonSet, Pod } from '../../../../controllers/common/types.ts';
import { type Explained, explainSet, type SetInCluster } from '../../../../controllers/daemonset/explain.ts';

const api = localApi(realClock);
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const spec = { selector: { matchLabels: { app: 'web' } }, template };

before(() => {
  for (const name of ['node-a', 'node-b']) api.add({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  for (const name of ['web', 'other']) {
    const { metadata } = api.add({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name, namespace: 'default' }, spec });
    const involvedObject = { kind: 'DaemonSet', namespace: 'default', name, uid: metadata.uid };
    api.add({ apiVersion: 'v1', kind: 'Event', metadata: { name: `${name}.1`, namespace: 'default' }, involvedObject, reason: 'A' });
  }
  for (const namespace of ['default', 'kube-system'])
    api.add({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1', namespace, labels: { app: 'web' } }, spec: { ...template.spec, nodeName: 'node-a' } }); // prettier-ignore
});

const everyNode: ExplainSet = ({ nodes }) =>
  nodes.map(({ metadata: { name = '' } }): Explained => ({ object: name, reason: 'Runs', detail: `it runs on ${name}` }));

const connect = async () => localClient(api);

async function why(argv: readonly string[], explain: ExplainSet = everyNode): Promise<Ran> {
  const { context, out, err } = cliContext({ connect });
  const load = async () => whyDaemonSet(explain);
  const entry = { name: 'why daemonset', summary: 'Say', group: 'Controllers', load } as const;
  const code = await dispatch([entry], ['why', 'daemonset', ...argv], context);
  return { code, stdout: out(), stderr: err() };
}

test('why daemonset tells each node in a table, and the same as JSON; --node picks one; a set that no node concerns is said in words', async () => {
  const table = await why(['default/web']);
  assert.deepEqual([table.code, table.stderr], [0, '']);
  assert.equal(table.stdout, 'NODE     REASON   DETAIL\nnode-a   Runs     it runs on node-a\nnode-b   Runs     it runs on node-b\n');
  const one = await why(['default/web', '--node=node-b', '-o', 'json']);
  assert.deepEqual(JSON.parse(one.stdout), [{ object: 'node-b', reason: 'Runs', detail: 'it runs on node-b' }]);
  const none = await why(['default/web'], () => []);
  assert.equal(none.stdout, 'Nothing to explain: no node is relevant to DaemonSet default/web.\n');
});

test('the explanation sees the set, all nodes, and the pods and revisions of its namespace', async () => {
  let seen: SetInCluster | undefined;
  const look: ExplainSet = (facts) => {
    seen = facts;
    return [];
  };
  await why(['default/web', '--daemonset-placement=controller'], look);
  assert.ok(seen);
  assert.deepEqual([seen.placement, seen.pods.length], ['controller', 2], 'who looks for room sees all pods');
  await why(['default/web'], look);
  const names = (objects: readonly Readonly<KubeObject>[]) =>
    objects.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`);
  assert.deepEqual(
    [seen.set.metadata.name, names(seen.nodes), names(seen.pods), seen.revisions, names(seen.events), seen.placement],
    ['web', ['/node-a', '/node-b'], ['default/web-1'], [], ['default/web.1'], 'scheduler'],
  );
  assert.ok(Math.abs(seen.now - Date.now()) < 60_000);
});

const failures = [
  { why: 'a set that is not there, with what was meant', argv: ['default/wep'], code: 3, says: 'Cannot explain DaemonSet default/wep: no such set; did you mean default/web?' },
  { why: 'a set that is not there, with what is', argv: ['default/zzzzzz'], code: 3, says: 'Cannot explain DaemonSet default/zzzzzz: no such set; namespace default has other, web' },
  { why: 'a namespace without any', argv: ['nowhere/web'], code: 3, says: 'Cannot explain DaemonSet nowhere/web: no such set; namespace nowhere has none' },
  { why: 'a node that is not there', argv: ['default/web', '--node=node-c'], code: 3, says: 'Cannot explain DaemonSet default/web on node node-c: no such node; did you mean node-a?' },
  { why: 'a name of three parts', argv: ['a/b/web'], code: 2, says: 'why daemonset: "a/b/web" must be NAME or NAMESPACE/NAME; see dkc why daemonset --help' },
]; // prettier-ignore
for (const { why: about, argv, code, says } of failures)
  test(`why daemonset ends with ${code} on ${about}`, async () => {
    assert.deepEqual(await why(argv), { code, stdout: '', stderr: `dkc: ${says}\n` });
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
const told: { why: string; seen: Partial<SetInCluster>; says: string[] }[] = [
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
for (const { why, seen, says } of told)
  test(`a set ${why} is explained by the controller's decision`, () => {
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

test('dkc why daemonset explains by that', async () => {
  const { code, stdout } = await runCli(['why', 'daemonset', 'default/web', '-o', 'json'], { connect });
  assert.equal(code, 0);
  const lines = (JSON.parse(stdout) as Explained[]).map(({ object, reason }) => `${object} ${reason}`);
  assert.deepEqual(lines, ['node-a budget', 'node-b creating']);
});
