import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused, type ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';

/** What is particular to one kind. */
export function kindContract(here: () => ContractWorld): void {
  test('discovery knows the kinds, their short names and verbs', async () => {
    const { api } = here();
    assert.deepEqual((await api.get('/api')).json['versions'], ['v1']);
    const core = Object.values((await api.get('/api/v1')).json['resources'] ?? {});
    const nodes = core.find((one) => text(one['name']) === 'nodes');
    assert.deepEqual(nodes?.['shortNames'], ['no']);
    assert.equal(nodes['kind'], 'Node');
    assert.equal(nodes['namespaced'], false);
    assert.deepEqual(nodes['verbs'], ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']);
    assert.ok(core.some((one) => text(one['name']) === 'nodes/status'));
    assert.ok(core.some((one) => text(one['name']) === 'pods/binding'));
    const groups = new Set(Object.values((await api.get('/apis')).json['groups'] ?? {}).map((group) => text(group['name'])));
    for (const group of ['coordination.k8s.io', 'events.k8s.io']) assert.ok(groups.has(group), group);
    assert.equal((await api.get('/apis/coordination.k8s.io')).json['kind'], 'APIGroup');
    assert.equal((await api.get('/apis/coordination.k8s.io/v1')).json['kind'], 'APIResourceList');
  });

  test('events are one store under two groups', async () => {
    const { api, namespace } = here();
    const core = `/api/v1/namespaces/${namespace}/events`;
    const involvedObject = { kind: 'ConfigMap', namespace, name: 'x' };
    await api.post(core, { metadata: { name: 'old.1' }, involvedObject, message: 'words', reason: 'Why', type: 'Normal', count: 2 });
    const modern = await api.get(`/apis/events.k8s.io/v1/namespaces/${namespace}/events/old.1`);
    assert.equal(modern.json['apiVersion'], 'events.k8s.io/v1');
    assert.equal(modern.json['note'], 'words');
    assert.equal(modern.json['regarding']?.['name'], 'x');
    assert.equal(modern.json['deprecatedCount'], 2);
    const selected = await api.get(`${core}?fieldSelector=involvedObject.name%3Dx,reason%3DWhy`);
    assert.equal(Object.keys(selected.json['items'] ?? {}).length, 1);
    isRefused(
      await api.post(core, { metadata: { name: 'old.2' }, involvedObject: { ...involvedObject, namespace: 'default' } }),
      422,
      /involvedObject\.namespace: Invalid value: "default": does not match event\.namespace/,
    );
  });

  test('a lease is updated with its version only', async () => {
    const { api, namespace } = here();
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const { json, code } = await api.post(leases, { metadata: { name: 'lease' }, spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } });
    assert.equal(code, 201);
    isRefused(
      await api.put(`${leases}/lease`, { metadata: { name: 'lease' }, spec: { holderIdentity: 'b' } }),
      422,
      /^leases\.coordination\.k8s\.io "lease" is invalid: metadata\.resourceVersion: Invalid value: (0x0|0): must be specified for an update$/,
    );
    assert.equal((await api.put(`${leases}/lease`, { ...json, spec: { ...json['spec'], holderIdentity: 'b' } })).code, 200);
  });

  test('a pod is bound once, and then waits for its kubelet when it is deleted', async () => {
    const { api, namespace } = here();
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    // A scheduler that runs beside leaves pods of another scheduler alone.
    const spec = { schedulerName: 'nobody', containers: [{ name: 'c', image: 'example/image' }], automountServiceAccountToken: false };
    const made = await api.post(pods, { metadata: { name: 'pod' }, spec });
    assert.equal(made.code, 201);
    assert.equal(made.json['status']?.['phase'], 'Pending');
    assert.equal(made.json['status']?.['qosClass'], 'BestEffort');
    assert.equal(made.json['spec']?.['restartPolicy'], 'Always');
    const bind = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'pod' },
      target: { apiVersion: 'v1', kind: 'Node', name: 'contract-node' },
    };
    assert.equal((await api.post(`${pods}/pod/binding`, bind)).code, 201);
    assert.equal((await api.post(`${pods}/pod/binding`, bind)).code, 409);
    const bound = (await api.get(`${pods}/pod`)).json;
    assert.equal(bound['spec']?.['nodeName'], 'contract-node');
    const scheduled = Object.values(bound['status']?.['conditions'] ?? {}).find((one) => text(one['type']) === 'PodScheduled');
    assert.equal(scheduled?.['status'], 'True');
    assert.equal((await api.patch(`${pods}/pod`, { spec: { schedulerName: 'x' } })).code, 422);
    await api.delete(`${pods}/pod`);
    const going = (await api.get(`${pods}/pod`)).json;
    assert.equal(going['metadata']?.['deletionGracePeriodSeconds'], 30);
    await api.delete(`${pods}/pod`, { gracePeriodSeconds: 0 });
    assert.equal((await api.get(`${pods}/pod`)).code, 404);
  });

  test('a pod that is not bound goes at once', async () => {
    const { api, namespace } = here();
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    await api.post(pods, { metadata: { name: 'free' }, spec: { schedulerName: 'nobody', containers: [{ name: 'c', image: 'i' }] } });
    assert.equal((await api.delete(`${pods}/free`)).code, 200);
    assert.equal((await api.get(`${pods}/free`)).code, 404);
  });

  test('a namespace takes its content with it', async () => {
    const { api } = here();
    const name = `${here().namespace}-going`;
    await api.post('/api/v1/namespaces', { metadata: { name } });
    await api.post(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'inside' } });
    assert.equal((await api.delete(`/api/v1/namespaces/${name}`)).code, 200);
    // Where nobody collects namespaces it stays Terminating; either way it takes nothing new.
    const refused = await api.post(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'late' } });
    assert.ok([403, 404].includes(refused.code), text(refused.code));
  });

  test('the namespaces of a cluster are there and stay', async () => {
    const { api } = here();
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      assert.equal((await api.get(`/api/v1/namespaces/${name}`)).json['status']?.['phase'], 'Active', name);
    }
    const kept = await api.delete('/api/v1/namespaces/default');
    assert.equal(kept.code, 403);
    assert.equal(kept.json['message'], 'namespaces "default" is forbidden: this namespace may not be deleted');
  });
}
