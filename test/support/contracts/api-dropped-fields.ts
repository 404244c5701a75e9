import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused, type ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { HttpAnswer } from '../api-http.ts';

const reference = { namespace: 'default', name: 'cm', kubeletConfigKey: 'kubelet' };
const spec = { configSource: { configMap: reference } };
const status = { config: { assigned: { configMap: { ...reference, uid: 'u', resourceVersion: '1' } } } };

/** Nodes where servers no longer keep an assignment: from 1.26 on, and before with the gate DynamicKubeletConfig off. */
export function droppedFieldsContract(here: () => ContractWorld): void {
  const path = '/api/v1/nodes/contract-a';
  const isDropped = ({ code, headers, json }: HttpAnswer, expected: number): void => {
    assert.equal(code, expected, text(json['message']));
    assert.equal(headers['warning'], undefined);
    assert.equal(json['spec']?.['configSource'], undefined);
    assert.equal(json['status']?.['config'], undefined);
  };

  test('a node that is created loses its assignment and its report, without a warning', async () => {
    isDropped(await here().api.post('/api/v1/nodes', { metadata: { name: 'contract-a' }, spec, status }), 201);
  });

  test('an assignment is dropped from an update, a merge patch and an apply, without a warning', async () => {
    const { api } = here();
    const { json: node } = await api.get(path);
    isDropped(await api.put(path, { ...node, spec: { ...node['spec'], ...spec } }), 200);
    isDropped(await api.patch(path, { spec }), 200);
    // The fields are remembered as their writer's though they are gone, so a second one must force.
    const applied = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'contract-a' }, spec };
    isDropped(await api.patch(`${path}?fieldManager=contract&force=true`, applied, { type: 'application/apply-patch+yaml' }), 200);
    // Not even one that no server would have taken is refused.
    isDropped(await api.patch(path, { spec: { configSource: { configMap: { name: 'A_b' } } } }), 200);
  });

  test('a report is dropped from the status, and the rest of the status is kept', async () => {
    const { api } = here();
    const capacity = { cpu: '2' };
    const report = await api.patch(`${path}/status`, { status: { ...status, capacity } });
    isDropped(report, 200);
    assert.deepEqual(report.json['status']?.['capacity'], capacity);
  });

  test('a node cannot assign itself, though it would be dropped, and reports for itself alone', async (t) => {
    const { api, nodeTokens } = here();
    if (nodeTokens === undefined) return t.skip('this server was started without tokens for nodes');
    const [a, b] = [api.as(nodeTokens['contract-a'] ?? ''), api.as(nodeTokens['contract-b'] ?? '')];
    assert.equal((await a.patch(`${path}/status`, { status: { capacity: { cpu: '3' } } })).code, 200);
    assert.equal((await b.patch(`${path}/status`, { status: { capacity: { cpu: '4' } } })).code, 403);
    isRefused(await a.patch(path, { spec }), 403, /node "contract-a" is not allowed to update configSource to a new non-nil configSource$/);
  });

  test('no node reads a ConfigMap that no pod of it names', async (t) => {
    const { api, nodeTokens, configMaps } = here();
    if (nodeTokens === undefined) return t.skip('this server was started without tokens for nodes');
    await api.post(configMaps, { metadata: { name: 'unnamed' }, data: { kubelet: 'x' } });
    isRefused(
      await api.as(nodeTokens['contract-a'] ?? '').get(`${configMaps}/unnamed`),
      403,
      /no relationship found between node 'contract-a' and this object/,
    );
    await api.delete(`${configMaps}/unnamed`);
    assert.equal((await api.delete(path)).code, 200);
  });
}
