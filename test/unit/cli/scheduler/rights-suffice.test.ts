import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { type KubeObject, pods } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { schedulerRunnable, servedKinds } from '../../../../scheduler/scheduler.ts';
import { text } from '../../kube/process/process-world.ts';
import { eventually } from '../../../support/eventually.ts';
import { quick, up, type Up } from '../process/long-world.ts';
import { configFile, start } from './scheduler-world.ts';
import type { Pod } from '../../../../scheduler/types.ts';

const page = await readFile(new URL('../../../../docs/scheduler.md', import.meta.url), 'utf8');
const roles = [...page.matchAll(/```yaml\n(apiVersion: rbac.*?)```/gs)].flatMap(([, block = '']) =>
  parseAllDocuments(block).map((document) => document.toJS() as KubeObject & { rules?: { resources: string[]; verbs: string[] }[] }),
);
const account = { token: 'theirs', user: 'system:serviceaccount:kube-system:dkc-scheduler', groups: [] };

/** A server with the page's roles on it, without what can be done to `leftOut`. */
async function withRights(t: TestContext, leftOut?: string): Promise<Up> {
  const world = await up(t, { tokens: [account], podKubelet: 'instant' });
  for (const { rules, ...manifest } of roles) {
    const left = rules?.map((rule) => ({ ...rule, resources: rule.resources.filter((resource) => resource !== leftOut) }));
    world.server.add(left === undefined ? manifest : { ...manifest, rules: left.filter(({ resources }) => resources.length > 0) });
  }
  const allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
  world.server.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' }, status: { allocatable } });
  return world;
}

const make = { schedulerRunnable, servedKinds };
const pod = (name: string, cpu: string, priority?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }],
    ...(priority === undefined ? {} : { priorityClassName: priority }),
  },
});

test('with the rights of docs/scheduler.md and no others pods are placed, refused and preempted', { timeout: 120_000 }, async (t) => {
  const { server, kubeconfig } = await withRights(t);
  server.add({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1_000 });
  const file = await configFile(t, 'reservation: {daemonSets: true, persist: annotation, mirror: true, mirrorImage: pause}');
  const run = start(t, [`--config=${file}`, `--kubeconfig=${await kubeconfig(account.token)}`, ...quick], { make });
  const { metrics } = await run.ready;
  const admin = createClient({ origin: 'test', server: server.url, token: server.token });
  t.after(() => admin.close());
  const found = (): Pod[] => server.hooks.storage.list('/pods').objects as unknown as Pod[];
  const nodeOf = (name: string): string | undefined => found().find(({ metadata }) => metadata.name === name)?.spec?.nodeName;
  const reasons = (): string[] =>
    server.hooks.storage.list('/events').objects.map((event) => (event as unknown as { reason: string }).reason);

  await admin.create(pods, pod('low', '800m'), { namespace: 'default' });
  await eventually('low is placed', () => nodeOf('low') === 'node-a');
  await admin.create(pods, pod('big', '4'), { namespace: 'default' });
  await eventually('big is refused', () => found().some(({ metadata, status }) => metadata.name === 'big' && status?.conditions?.[0]?.reason === 'Unschedulable')); // prettier-ignore
  await admin.create(pods, pod('high', '800m', 'high'), { namespace: 'default' });
  await eventually('high is placed, and low is gone', () => nodeOf('high') === 'node-a' && nodeOf('low') === undefined);
  await eventually('events', () => ['Scheduled', 'FailedScheduling', 'Preempted'].every((reason) => reasons().includes(reason)));
  assert.match(await text(`${metrics}/readyz?verbose`), /\[\+\]rights ok: no missing rights known/);
  assert.doesNotMatch(await text(`${metrics}/metrics`), /^rest_client_requests_total\{code="403"/m);
  assert.equal(await run.stop(), 0);
});

test('a right that is missing is named before the first pod fails for it', { timeout: 120_000 }, async (t) => {
  const { kubeconfig } = await withRights(t, 'pods/binding');
  const run = start(t, [`--kubeconfig=${await kubeconfig(account.token)}`, ...quick], { make });
  const { metrics } = await run.ready;
  await text(`${metrics}/readyz`, /rights failed: missing: create pods\/binding/);
  assert.deepEqual(run.fields[run.lines.indexOf('warn: missing rights')], { missing: 'create pods/binding', vital: true });
  assert.equal(await run.stop(), 0);
});
