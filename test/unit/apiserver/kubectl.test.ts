import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { ApiHttp } from '../../support/api-http.ts';
import { describeWithKubectl, Kubectl } from '../../support/kubectl.ts';
import type { ApiServer } from '../../../apiserver/server.ts';
import { started } from './started.ts';

const configMap = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, namespace: default}\ndata: ${data}\n`;
const template = (image: string) => ({ metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image }] } });
const spec = { selector: { matchLabels: { a: 'b' } }, template: template('example/i:1') };
const daemonSet = JSON.stringify({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'ds' }, spec });

function revision(number: number, uid: string): Record<string, unknown> {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid, controller: true, blockOwnerDeletion: true }];
  const metadata = { name: `ds-${number}`, labels: { a: 'b' }, ownerReferences };
  const data = { spec: { template: { $patch: 'replace', ...template(`example/i:${number}`) } } };
  return { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, revision: number, data };
}

// All that kubectl asks and shows is compared with a real server, command by command, in suites/real/kubectl-compare.
describeWithKubectl('kubectl drives the embedded server', (program) => {
  let server: ApiServer;
  let kubectl: Kubectl;
  before(async () => {
    ({ server } = await started());
    kubectl = await Kubectl.start(program, server.kubeconfig());
  });
  after(async () => {
    await kubectl.stop();
    await server.stop();
  });
  const good: Kubectl['good'] = (...args) => kubectl.good(...args);

  test('creates, applies, applies a change, watches and deletes', async () => {
    assert.equal(await good('apply -f -', configMap('{a: one, b: two}')), 'configmap/cm created\n');
    assert.equal(await good('apply -f -', configMap('{a: one, b: two}')), 'configmap/cm unchanged\n');
    assert.equal(await good('apply -f -', configMap('{a: three}')), 'configmap/cm configured\n');
    assert.equal(await good('get configmap cm -o jsonpath={.data}'), '{"a":"three"}');
    const child = kubectl.spawn(['get', 'cm', '-w', '--no-headers']);
    let seen = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (seen += part));
    while (!/^cm +1/m.test(seen)) await once(child.stdout, 'data');
    server.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'later' }, data: { a: '1', b: '2' } });
    while (!/^later +2/m.test(seen)) await once(child.stdout, 'data');
    child.kill();
    await once(child, 'close');
    assert.equal(await good('delete configmap cm'), 'configmap "cm" deleted\n');
    await good('create namespace going');
    await good('delete namespace going');
    assert.match((await kubectl.run(['get', 'namespace', 'going'])).stderr, /namespaces "going" not found/);
  });

  test('follows, remembers, undoes and restarts a rollout', async () => {
    await good('create -f -', daemonSet);
    const uid = await good('get ds ds -o jsonpath={.metadata.uid}');
    for (const number of [1, 2]) server.add(revision(number, uid));
    assert.match(await good('rollout history ds ds'), /REVISION +CHANGE-CAUSE\n1 +<none>\n2 +<none>\n/);
    assert.match(await good('get controllerrevisions'), /ds-2 +daemonset\.apps\/ds +2 /);
    await good('rollout undo ds ds --to-revision=2');
    assert.equal(await good('get ds ds -o jsonpath={.spec.template.spec.containers[0].image}'), 'example/i:2');
    await good('rollout restart ds ds');
    assert.match(await good('get ds ds -o jsonpath={.spec.template.metadata.annotations}'), /restartedAt/);
    const api = new ApiHttp({ url: server.url, ca: server.caPem, token: server.token });
    const done = { desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberReady: 1, numberAvailable: 1 };
    await api.patch('/apis/apps/v1/namespaces/default/daemonsets/ds/status', { status: { ...done, observedGeneration: 9 } });
    assert.match(await good('rollout status ds ds --timeout=60s'), /successfully rolled out/);
  });
});
