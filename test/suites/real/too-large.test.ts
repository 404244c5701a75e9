import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inGoJson } from '../../../kube/api/json.ts';
import { controllerRevisions, daemonSets, type KubeObject, nodes, pods, statefulSets } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { eventually } from '../../support/eventually.ts';
import { adminClient } from '../../support/real-parts/admin-client.ts';
import { type ControlPlane, startControlPlane } from '../../support/real-parts/control-plane.ts';
import { startSubject } from './cluster/controllers.ts';
import type { Subject } from './cluster/subject.ts';
import { startScheduler } from './scheduler/subjects.ts';
import { withRealParts } from './suite.ts';

/** Go writes each as six bytes: 8.7 MB on the wire, which the server takes as 1.45 MB and etcd stores. */
const BRACKETS = '<'.repeat(1_450_000);
const WAIT_MS = 90_000;
const namespace = 'default';

const podSpec = (value: string) => ({
  nodeSelector: { room: 'yes' },
  containers: [{ name: 'main', image: 'app:1', env: [{ name: 'TEXT', value }], resources: { requests: { cpu: '10m' } } }],
});

const pod = (name: string, value = 'x'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: podSpec(value),
});

const set = (kind: 'StatefulSet' | 'DaemonSet', name: string, value = 'x'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace },
  spec: {
    selector: { matchLabels: { app: name } },
    ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
    template: { metadata: { labels: { app: name } }, spec: podSpec(value) },
  },
});

await withRealParts('objects of 8.7 MB, and nested 3,000 deep, that a user of a namespace may create', ['etcd', 'kube-apiserver'], () => {
  let plane: ControlPlane | undefined;
  let client: Client | undefined;
  let subjects: Subject[] = [];
  const api = (): Client => client ?? assert.fail('the control plane did not start');

  before(async () => {
    plane = await startControlPlane();
    client = adminClient(plane);
    const room = { capacity: { cpu: '8', memory: '8Gi', pods: '100' }, allocatable: { cpu: '8', memory: '8Gi', pods: '100' } };
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-0', labels: { room: 'yes' } } });
    await client.patch(nodes, { name: 'node-0' }, { status: room }, { type: 'merge', subresource: 'status' });
    subjects = [await startScheduler('dkc', plane), await startSubject('dkc', plane, ['--leader-elect=false'], 'daemonset,statefulset')];
  });
  after(async () => {
    for (const subject of subjects) await subject[Symbol.asyncDispose]();
    await client?.close();
    await plane?.stop();
  });

  /** Resolves once a pod that the test or one of ours made has a node. */
  const bound = (name: string): Promise<unknown> =>
    eventually(
      `pod ${name} has a node`,
      async () => {
        const found = await api().list(pods, { namespace, fieldSelector: 'spec.nodeName=node-0' });
        return found.items.find(({ metadata }) => metadata.name === name || metadata.generateName === name);
      },
      WAIT_MS,
    );

  /** Ordinary pods are placed and ordinary sets are served; every process says that it is well. */
  const ordinary = async (round: string): Promise<void> => {
    await api().create(pods, pod(`plain-${round}`));
    await api().create(statefulSets, set('StatefulSet', `web-${round}`));
    await api().create(daemonSets, set('DaemonSet', `agent-${round}`));
    await bound(`plain-${round}`);
    await bound(`web-${round}-0`);
    await bound(`agent-${round}-`);
    for (const subject of subjects) for (const check of ['/readyz', '/healthz']) assert.equal(await subject.answer(check), 'ok');
  };

  test('while processes run: pods, templates and revisions of that size cost nobody else anything', async () => {
    await ordinary('before');
    await api().create(pods, pod('big', BRACKETS));
    await api().create(statefulSets, set('StatefulSet', 'big-set', BRACKETS));
    await api().create(daemonSets, set('DaemonSet', 'big-daemons', BRACKETS));
    const data = { spec: { template: { note: BRACKETS } } };
    await api().create(controllerRevisions, { metadata: { name: 'big', namespace, labels: { app: 'web-before' } }, revision: 7, data });
    await ordinary('running');
    await bound('big');
  });

  test('revisions nested 3,000 deep, which the set of their labels finds among its own, end no process', async () => {
    for (const n of [1, 2]) {
      const data: unknown = JSON.parse(`${'{"a":'.repeat(3_000)}${n}${'}'.repeat(3_000)}`);
      const metadata = { name: `deep-${n}`, namespace, labels: { app: 'web-running' } };
      await api().create(controllerRevisions, inGoJson({ metadata, revision: n, data }));
    }
    await ordinary('deep');
  });

  test('in a page of a list', async () => {
    const sizes = new Map<string, number>();
    await api().listEach(pods, { namespace, limit: 500 }, (item) => void sizes.set(item.metadata.name ?? '', JSON.stringify(item).length));
    assert.ok((sizes.get('big') ?? 0) > BRACKETS.length);
    assert.ok(sizes.has('plain-running'));
  });

  test('after a restart', async () => {
    for (const subject of subjects) {
      await subject.stop();
      await subject.start();
    }
    await ordinary('restarted');
  });
});
