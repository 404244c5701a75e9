import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { controllersFlags } from '../../../../cli/controllers/command.ts';
import { rightsFor } from '../../../../cli/controllers/rights.ts';
import { controllersSettings } from '../../../../cli/controllers/settings.ts';
import { plainFlags } from '../../../../cli/args/args.ts';
import { daemonSetController } from '../../../../controllers/daemonset/controller.ts';
import { fleetPage } from '../../../../controllers/page/page.ts';
import { rolloutController } from '../../../../controllers/rollout/controller.ts';
import { statefulSetController } from '../../../../controllers/statefulset/controller.ts';
import { daemonSets, type KubeObject, nodes, persistentVolumeClaims, pods, statefulSets } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { text } from '../../kube/process/process-world.ts';
import { eventually } from '../../../support/eventually.ts';
import { HollowNodes } from '../../../support/hollow/hollow-nodes.ts';
import { freePort, quick, up, type Up } from '../process/long-world.ts';
import { idle, start } from './controllers-world.ts';
import type { ApiServerOptions } from '../../../../apiserver/server.ts';
import type { DaemonSet, Pod, Pvc, StatefulSet } from '../../../../controllers/common/types.ts';

const page = await readFile(new URL('../../../../docs/controllers.md', import.meta.url), 'utf8');
const manifests = [...page.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, block = '']) =>
  parseAllDocuments(block).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as KubeObject & { rules?: Rule[] };
  }),
);

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

const account = { token: 'theirs', user: 'system:serviceaccount:kube-system:dkc-controllers', groups: [] };

/** A server with the page's roles on it, without what `isLeftOut` takes away. */
async function withRights(
  t: TestContext,
  isLeftOut: (rule: Rule, verb: string) => boolean = () => false,
  options: Partial<ApiServerOptions> = { podKubelet: 'instant' },
): Promise<Up> {
  const world = await up(t, { tokens: [account], ...options });
  for (const { rules, ...manifest } of manifests.filter(({ kind }) => kind !== 'Deployment')) {
    const fewer = rules?.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => !isLeftOut(rule, verb)) }));
    const left = fewer?.filter(({ verbs }) => verbs.length > 0);
    world.server.add(left === undefined ? manifest : { ...manifest, rules: left });
  }
  return world;
}

const makers = { daemonset: daemonSetController, statefulset: statefulSetController, rollout: rolloutController, page: fleetPage };
const template = (image: string) => ({ metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } });
const web = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { matchLabels: { app: 'web' } }, template: template('one'), revisionHistoryLimit: 0 },
};

test('with the rights of docs/controllers.md and no others DaemonSets get all that they need', { timeout: 120_000 }, async (t) => {
  const { server, kubeconfig } = await withRights(t);
  for (const name of ['node-a', 'node-b']) server.add({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  server.add(web);
  const orphan = { metadata: { name: 'orphan', labels: { app: 'web' } }, spec: { ...template('one').spec, nodeName: 'node-a' } };
  server.add({ apiVersion: 'v1', kind: 'Pod', ...orphan });
  const run = start(t, [`--kubeconfig=${await kubeconfig(account.token)}`, ...quick], { makers });
  const { metrics } = await run.ready;
  const admin = createClient({ origin: 'test', server: server.url, token: server.token });
  t.after(() => admin.close());
  const objects = <T extends KubeObject>(kind: string) => server.hooks.storage.list(kind).objects as unknown as T[];
  const images = () => objects<Pod>('/pods').filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ spec }) => spec?.containers[0]?.image).join(); // prettier-ignore
  const status = () => objects<DaemonSet>('apps/daemonsets')[0]?.status;

  await eventually('a pod on each node, one of them adopted', () => images() === 'one,one' && status()?.currentNumberScheduled === 2);
  await admin.patch(daemonSets, { name: 'web', namespace: 'default' }, { spec: { template: template('two') } }, { type: 'merge' });
  await eventually('pods of the new revision, and the old revision gone', () => {
    return images() === 'two,two' && objects('apps/controllerrevisions').length === 1;
  });
  await admin.delete(nodes, { name: 'node-b' });
  await eventually('the status of one node', () => status()?.desiredNumberScheduled === 1);
  assert.equal((await admin.list(pods, { namespace: 'default' })).items.length > 0, true);
  const events = () => objects('/events').map(({ ['reason']: reason }) => String(reason));
  await eventually('events', () => events().includes('SuccessfulCreate') && events().includes('SuccessfulDelete'));
  assert.doesNotMatch(await text(`${metrics}/metrics`), /^rest_client_requests_total\{code="403"/m);
  assert.equal(await run.stop(), 0);
});

/** Its pods are bound where they are made: nobody schedules here. */
const database = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'default', annotations: { 'dkc.dev/expand-claims': 'true', 'dkc.dev/progress-deadline': '10m' } },
  spec: {
    serviceName: 'db',
    replicas: 2,
    revisionHistoryLimit: 0,
    selector: { matchLabels: { app: 'db' } },
    template: { metadata: { labels: { app: 'db' } }, spec: { ...template('one').spec, nodeName: 'node-a' } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    volumeClaimTemplates: [
      { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } } },
    ],
  },
};

test('with the rights of docs/controllers.md and no others StatefulSets get all that they need', { timeout: 120_000 }, async (t) => {
  const { server, kubeconfig } = await withRights(t, undefined, { version: 'v1.34.0' });
  const admin = createClient({ origin: 'test', server: server.url, token: server.token });
  t.after(() => admin.close());
  const hollow = new HollowNodes({ client: admin, clock: realClock, log: silentLog });
  const over = new AbortController();
  const kubelets = hollow.run(over.signal);
  t.after(() => {
    over.abort();
    return kubelets;
  });
  await hollow.add([{ name: 'node-a' }]);
  const classes = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'p', allowVolumeExpansion: true };
  server.add({ ...classes, metadata: { name: 'fast' } });
  const small = { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data-db-0', namespace: 'default' } };
  server.add({ ...claim, spec: small });
  const bound = { status: { phase: 'Bound' } };
  await admin.patch(persistentVolumeClaims, claim.metadata, bound, { type: 'merge', subresource: 'status' });
  server.add(database);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }];
  const orphan = { metadata: { name: 'db-0', labels: { app: 'db' } }, spec: { ...template('zero').spec, nodeName: 'node-a', volumes } };
  server.add({ apiVersion: 'v1', kind: 'Pod', ...orphan });
  const run = start(t, [`--kubeconfig=${await kubeconfig(account.token)}`, ...quick], { makers });
  const { metrics } = await run.ready;
  const objects = <T extends KubeObject>(kind: string) => server.hooks.storage.list(kind).objects as unknown as T[];
  const images = () => objects<Pod>('/pods').filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ spec }) => spec?.containers[0]?.image).join(); // prettier-ignore
  const claims = () => objects<Pvc>('/persistentvolumeclaims').map(({ metadata, spec }) =>
    `${metadata.name} ${metadata.ownerReferences?.map(({ kind }) => kind).join() ?? ''} ${String(spec?.resources?.requests?.['storage'])}`).toSorted(); // prettier-ignore
  const ref = { name: 'db', namespace: 'default' };
  const status = () => objects<StatefulSet>('apps/statefulsets')[0]?.status;

  await eventually('two pods, the adopted one replaced, and their claims', () => images() === 'one,one' && status()?.readyReplicas === 2);
  await eventually('claims that are owned and large', () => claims().join() === 'data-db-0 StatefulSet 2Gi,data-db-1 StatefulSet 2Gi');
  const change = { spec: { template: { spec: { ...template('two').spec, nodeName: 'node-a' } } } };
  await admin.patch(statefulSets, ref, change, { type: 'merge' });
  await eventually('pods of the new revision, and the old revision gone', () => {
    return images() === 'two,two' && objects('apps/controllerrevisions').length === 1;
  });
  await admin.patch(statefulSets, ref, { spec: { replicas: 1 } }, { type: 'merge' });
  await eventually('one pod, and one claim', () => images() === 'two' && claims().join() === 'data-db-0 StatefulSet 2Gi');
  await eventually('the condition', () => (status()?.conditions ?? []).some(({ reason }) => reason === 'RolloutComplete'));
  const events = () => objects('/events').map(({ ['reason']: reason }) => String(reason));
  await eventually('events', () => ['SuccessfulCreate', 'SuccessfulDelete', 'ClaimExpanded'].every((reason) => events().includes(reason)));
  assert.doesNotMatch(await text(`${metrics}/metrics`), /^rest_client_requests_total\{code="403"/m);
  assert.equal(await run.stop(), 0);
});

test('without the right to list nodes it is not ready, names it, and goes on once it is given', { timeout: 120_000 }, async (t) => {
  const { server, kubeconfig } = await withRights(t, ({ resources }, verb) => resources.includes('nodes') && /list|watch/.test(verb));
  const port = await freePort();
  const flags = [`--kubeconfig=${await kubeconfig(account.token)}`, `--metrics-bind-address=127.0.0.1:${port}`, ...quick];
  const run = start(t, flags, { makers: idle() });
  await eventually('the refusal', () => run.fields.some(({ error }) => typeof error === 'string' && error.includes('forbidden')));
  const says = /not synced: nodes \(.*forbidden.*; the verbs list and watch on nodes are needed\)/;
  assert.match(await text(`http://127.0.0.1:${port}/readyz`, /\[-\].*forbidden/), says);
  assert.match(await text(`http://127.0.0.1:${port}/readyz/rights?verbose`, /missing/), /missing: .*nodes/);
  assert.equal(run.out(), '');
  const [apiVersion, apiGroup] = ['rbac.authorization.k8s.io/v1', 'rbac.authorization.k8s.io'];
  const metadata = { name: 'all' };
  server.add({ apiVersion, kind: 'ClusterRole', metadata, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] });
  const subjects = [{ kind: 'User', name: account.user, apiGroup }];
  server.add({ apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef: { apiGroup, kind: 'ClusterRole', name: 'all' }, subjects });
  assert.equal((await run.ready).ready, true);
  assert.equal(await run.stop(), 0);
});

test('a right to write that is missing is known before it is needed', { timeout: 120_000 }, async (t) => {
  const { kubeconfig } = await withRights(t, ({ resources }, verb) => resources.includes('pods') && verb === 'create');
  const run = start(t, [`--kubeconfig=${await kubeconfig(account.token)}`, ...quick]);
  const { metrics } = await run.ready;
  assert.match(await text(`${metrics}/readyz`, /rights failed/), /^\[-\]rights failed: missing: create pods$/m);
  assert.deepEqual(run.fields[run.lines.indexOf('warn: missing rights')], { missing: 'create pods', vital: true });
  assert.equal(await run.stop(), 0);
});

test('docs/controllers.md gives the rights that the controllers ask for, and no others', () => {
  const given = manifests.flatMap(({ kind, metadata, rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames: [name] = [] }) =>
      verbs.map((verb) => [verb, apiGroups.join(), resources.join(), name ?? '', kind === 'Role' ? metadata.namespace : ''].join(' ')),
    ),
  );
  const asked = rightsFor(controllersSettings(plainFlags('controllers run', controllersFlags, []))).map(
    ({ verb, group, resource, subresource, name = '', namespace }) =>
      [verb, group, subresource === undefined ? resource : `${resource}/${subresource}`, name, namespace].join(' '),
  );
  assert.deepEqual(given.toSorted(), asked.toSorted());
});

test('docs/controllers.md has every flag, and none that is not there', () => {
  const [, table = ''] = /## Flags\n(.*?)\n\n[^|\n]/s.exec(page) ?? [];
  const named = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`--([a-z-]+)`/g)].map(([, name = '']) => name),
  );
  assert.deepEqual(named.toSorted(), controllersFlags.map(({ name }) => name).toSorted());
});

test('the Deployment of docs/controllers.md is started with flags that are there, by the service account that has the rights', () => {
  const deployment = manifests.find(({ kind }) => kind === 'Deployment');
  assert.ok(deployment);
  const { spec } = (deployment['spec'] as { template: { spec: { serviceAccountName: string; containers: { command: string[] }[] } } })
    .template;
  assert.equal(account.user, `system:serviceaccount:${deployment.metadata.namespace}:${spec.serviceAccountName}`);
  const flags = (spec.containers[0]?.command ?? []).filter((word) => word.startsWith('--')).map((word) => word.slice(2).split('=')[0]);
  assert.deepEqual(flags.filter((flag) => !controllersFlags.some(({ name }) => name === flag)), []); // prettier-ignore
});

test('docs/controllers.md has kube-controller-manager leave out what is run here by default', () => {
  const told = [...page.matchAll(/--controllers=\*[\w,]*?((?:,-\w+)+)/g)].map(([, out = '']) => out);
  const asked = controllersSettings(plainFlags('controllers run', controllersFlags, [])).controllers;
  assert.deepEqual(new Set(told), new Set([asked.map((name) => `,-${name}`).join('')]));
});

const root = new URL('../../../../', import.meta.url);
const rooms = [
  { room: 'daemonset', page: 'docs/daemonset.md', optIns: ['controllers/daemonset/rules.ts'] },
  { room: 'statefulset', page: 'docs/statefulset.md', optIns: ['controllers/statefulset/rules.ts'] },
];
for (const { room, page: path, optIns } of rooms) {
  test(`${path} names files and annotations of its controller that are there, and all annotations`, async () => {
    const text = await readFile(new URL(path, root), 'utf8');
    const files = await readdir(new URL(`controllers/${room}/`, root), { recursive: true });
    const named = [...text.matchAll(/`([a-z/-]+\.ts|[a-z]+\/)`/g)].map(([, file = '']) => file.replace(/\/$/, ''));
    assert.ok(named.length > 10);
    assert.deepEqual(named.filter((file) => !files.includes(file)), []); // prettier-ignore
    const annotations = (of: string): Set<string> => new Set(of.match(/dkc\.dev\/[a-z-]+/g));
    const sources = await Promise.all(optIns.map((file) => readFile(new URL(file, root), 'utf8')));
    assert.deepEqual(annotations(text), annotations(sources.join()));
  });
}

test('docs/controllers.md has every reason that is given for a StatefulSet and its pods', async () => {
  const [, table = ''] = /### StatefulSets\n(.*)/s.exec(page) ?? [];
  const [actions, explain] = await Promise.all(
    ['actions', 'explain'].map((file) => readFile(new URL(`controllers/statefulset/${file}.ts`, root), 'utf8')),
  );
  const [, details = ''] = /const details = \{\n(.*?)\n\}/s.exec(actions ?? '') ?? [];
  const waits = [...details.matchAll(/^ {2}'?([a-z-]+)'?:/gm)].map(([, reason = '']) => reason);
  const stands = [...(explain ?? '').matchAll(/reason: '([a-z-]+)'/g)].map(([, reason = '']) => reason);
  assert.ok(waits.length > 3 && stands.length > 3);
  const reasons = [...waits, ...stands];
  assert.deepEqual(reasons.filter((reason) => !table.includes(`\`${reason}\``)), []); // prettier-ignore
});
