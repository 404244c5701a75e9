import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused, type ContractWorld } from './contract-world.ts';
import { eventually } from '../eventually.ts';

const spec = { namespace: 'default', name: 'cm', kubeletConfigKey: 'kubelet' };
const status = { ...spec, uid: 'u', resourceVersion: '1' };

// Each: one field of a good source made bad, and what the server says of it.
const refusedSpecs = [
  { bad: { namespace: undefined }, says: 'spec.configSource.configMap.namespace: Required value: namespace must be set' },
  { bad: { name: undefined }, says: 'spec.configSource.configMap.name: Required value: name must be set' },
  {
    bad: { kubeletConfigKey: undefined },
    says: 'spec.configSource.configMap.kubeletConfigKey: Required value: kubeletConfigKey must be set',
  },
  { bad: { uid: 'u' }, says: 'spec.configSource.configMap.uid: Forbidden: uid must not be set in spec' },
  {
    bad: { resourceVersion: '1' },
    says: 'spec.configSource.configMap.resourceVersion: Forbidden: resourceVersion must not be set in spec',
  },
  { bad: { namespace: 'A_b' }, says: 'spec.configSource.configMap.namespace: Invalid value: "A_b": ' },
  { bad: { name: 'A_b' }, says: 'spec.configSource.configMap.name: Invalid value: "A_b": ' },
  { bad: { kubeletConfigKey: '../x' }, says: 'spec.configSource.configMap.kubeletConfigKey: Invalid value: "../x": ' },
  { bad: { kubeletConfigKey: '..' }, says: `spec.configSource.configMap.kubeletConfigKey: Invalid value: "..": must not be '..'` },
];

const refusedStatuses = [
  { bad: { uid: undefined }, says: 'Required value: uid must be set in status' },
  { bad: { resourceVersion: undefined }, says: 'Required value: resourceVersion must be set in status' },
  { bad: { kubeletConfigKey: undefined }, says: 'Required value: kubeletConfigKey must be set' },
];

/** Nodes with the gate DynamicKubeletConfig on. */
export function nodeContract(here: () => ContractWorld): void {
  const path = '/api/v1/nodes/contract-a';

  test('a new node is not validated, an update is', async () => {
    const { api } = here();
    const made = await api.post('/api/v1/nodes', { metadata: { name: 'contract-a' }, spec: { configSource: {} } });
    assert.equal(made.code, 201);
    isRefused(
      await api.patch(path, { metadata: { labels: { a: 'b' } } }),
      422,
      /^Node "contract-a" is invalid: spec\.configSource: Invalid value: .*: exactly one reference subfield must be non-nil$/,
    );
    assert.equal((await api.patch(path, { spec: { configSource: { configMap: spec } } })).code, 200);
  });

  for (const { bad, says } of refusedSpecs) {
    test(`an assignment is refused: ${says}`, async () => {
      const { api } = here();
      const { json: node } = await api.get(path);
      const configSource = { configMap: { ...spec, ...bad } };
      const json = isRefused(await api.put(path, { ...node, spec: { ...node['spec'], configSource } }), 422, says);
      assert.equal(Object.values(json['details']?.['causes'] ?? {})[0]?.['field'], says.slice(0, says.indexOf(':')));
    });
  }

  for (const part of ['assigned', 'active', 'lastKnownGood']) {
    for (const { bad, says } of refusedStatuses) {
      test(`a report is refused: ${part}, ${says}`, async () => {
        const { api } = here();
        const { json: node } = await api.get(path);
        const config = { [part]: { configMap: { ...status, ...bad } } };
        isRefused(
          await api.put(`${path}/status`, { ...node, status: { ...node['status'], config } }),
          422,
          new RegExp(`status\\.config\\.${part}\\.configMap\\.[A-Za-z]+: ${says}`),
        );
      });
    }
  }

  test('the node and its status do not write each other', async () => {
    const { api } = here();
    const config = { assigned: { configMap: status }, error: 'x' };
    const report = await api.patch(`${path}/status`, { spec: { unschedulable: true }, status: { config } });
    assert.equal(report.code, 200);
    assert.deepEqual(report.json['status']?.['config'], config);
    assert.equal(report.json['spec']?.['unschedulable'], undefined);
    const other = await api.patch(path, { spec: { unschedulable: true }, status: { config: null } });
    assert.equal(other.json['spec']?.['unschedulable'], true);
    assert.deepEqual(other.json['status']?.['config'], config);
  });

  test('an empty report stays there, empty', async () => {
    const { api } = here();
    const { json } = await api.patch(`${path}/status`, { status: { config: { assigned: null, error: null } } });
    assert.deepEqual(json['status']?.['config'], {});
  });

  test('a node reads the ConfigMap it is assigned, and no other node does', async (t) => {
    const { api, nodeTokens, namespace, configMaps } = here();
    if (nodeTokens === undefined) return t.skip('this server was started without tokens for nodes');
    const [a, b] = [api.as(nodeTokens['contract-a'] ?? ''), api.as(nodeTokens['contract-b'] ?? '')];
    await api.post(configMaps, { metadata: { name: 'mine' }, data: { kubelet: 'x' } });
    const mine = `${configMaps}/mine`;
    assert.equal((await a.get(mine)).code, 403);
    await api.patch(path, { spec: { configSource: { configMap: { ...spec, namespace, name: 'mine' } } } });
    // A real server learns of the reference from its own watch.
    const read = await eventually('the node may read it', async () => {
      const answer = await a.get(mine);
      return answer.code === 403 ? undefined : answer;
    });
    assert.equal(read.code, 200);
    const list = await a.get(`${configMaps}?fieldSelector=metadata.name%3Dmine`);
    assert.equal(list.code, 200);
    assert.equal((await a.get(configMaps)).code, 403);
    isRefused(await b.get(mine), 403, /no relationship found between node 'contract-b' and this object/);
  });

  test('a node reports for itself and cannot assign itself', async (t) => {
    const { api, nodeTokens } = here();
    if (nodeTokens === undefined) return t.skip('this server was started without tokens for nodes');
    const [a, b] = [api.as(nodeTokens['contract-a'] ?? ''), api.as(nodeTokens['contract-b'] ?? '')];
    assert.equal((await a.get(path)).code, 200);
    assert.equal((await a.patch(`${path}/status`, { status: { config: { error: 'e' } } })).code, 200);
    assert.equal((await b.patch(`${path}/status`, { status: { config: { error: 'f' } } })).code, 403);
    isRefused(
      await a.patch(path, { spec: { configSource: { configMap: { ...spec, name: 'other' } } } }),
      403,
      /node "contract-a" is not allowed to update configSource to a new non-nil configSource/,
    );
    assert.equal((await a.patch(path, { spec: { configSource: null } })).code, 200);
    const event = {
      metadata: { name: 'contract-a.1', namespace: 'default' },
      involvedObject: { kind: 'Node', name: 'contract-a', uid: 'contract-a' },
    };
    assert.equal(
      (await a.post('/api/v1/namespaces/default/events', { ...event, reason: 'KubeletConfigChanged', type: 'Normal', message: 'm' })).code,
      201,
    );
    await api.delete('/api/v1/namespaces/default/events/contract-a.1');
  });

  test('clearing the assignment removes it', async () => {
    const { api } = here();
    await api.patch(path, { spec: { configSource: { configMap: spec } } });
    const { json } = await api.patch(path, { spec: { configSource: null } });
    assert.equal(json['spec']?.['configSource'], undefined);
    assert.equal((await api.delete(path)).code, 200);
  });
}
