import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchangesOf, isRefused, type Here } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { HttpAnswer } from '../api-http.ts';
import { eventually } from '../eventually.ts';

const reference = { namespace: 'default', name: 'cm', kubeletConfigKey: 'kubelet' };
const path = '/api/v1/nodes/contract-a';
const assigned = '{namespace: default, name: cm, kubeletConfigKey: kubelet, uid: u, resourceVersion: "1"}';

/** A row: an assignment with one field made bad, and what the server says of it. */
const bad = (field: string, value: string, says: string) =>
  `PATCH NODES/contract-a | {spec: {configSource: {configMap: {${field}: ${value}}}}} | 422 | spec.configSource.configMap.${field}: ${says}`;

/** Nodes with the gate DynamicKubeletConfig on. */
export function nodeContract(here: Here): void {
  const exchange = exchangesOf(here);
  exchange('a new node is not validated, an update is: an assignment names a ConfigMap and a key, and nothing that a report has')(`
    POST NODES             | {metadata: {name: contract-a}, spec: {configSource: {}}} | 201 |
    PATCH NODES/contract-a | {metadata: {labels: {a: b}}} | 422 | exactly one reference subfield must be non-nil
    PATCH NODES/contract-a | {spec: {configSource: {configMap: {namespace: default, name: cm, kubeletConfigKey: kubelet}}}} | 200 |
    ${bad('namespace', 'null', 'Required value: namespace must be set')}
    ${bad('name', 'null', 'Required value: name must be set')}
    ${bad('kubeletConfigKey', 'null', 'Required value: kubeletConfigKey must be set')}
    ${bad('uid', 'u', 'Forbidden: uid must not be set in spec')}
    ${bad('resourceVersion', '"1"', 'Forbidden: resourceVersion must not be set in spec')}
    ${bad('namespace', 'A_b', 'Invalid value: "A_b":')}
    ${bad('name', 'A_b', 'Invalid value: "A_b":')}
    ${bad('kubeletConfigKey', '../x', 'Invalid value: "../x":')}
    ${bad('kubeletConfigKey', '..', `Invalid value: "..": must not be '..'`)}
  `);

  const report = (of: string) => `PATCH NODES/contract-a/status | {status: {config: {${of}}}}`;
  exchange('a report names uid and version, and is stored; node and status do not write each other; clearing an assignment removes it')(`
    ${report('assigned: {configMap: {name: cm}}')} | 422 | status.config.assigned.configMap.uid: Required value: uid must be set in status
    ${report('active: {configMap: {uid: u}}')} | 422 | status.config.active.configMap.resourceVersion: Required value: resourceVersion must be set in status
    ${report('lastKnownGood: {configMap: {uid: u}}')} | 422 | status.config.lastKnownGood.configMap.kubeletConfigKey: Required value: kubeletConfigKey must be set
    PATCH NODES/contract-a/status | {spec: {unschedulable: true}, status: {config: {assigned: {configMap: ${assigned}}, error: x}}} | 200
      | {spec: {unschedulable: null}, status: {config: {error: x, active: null, assigned: {configMap: ${assigned}}}}}
    PATCH NODES/contract-a | {spec: {unschedulable: true}, status: {config: null}} | 200 | {spec: {unschedulable: true}, status: {config: {error: x}}}
    ${report('assigned: null, error: null')} | 200 | {status: {config: {}}}
    PATCH NODES/contract-a | {spec: {configSource: null}} | 200 | {spec: {configSource: null}}
  `);

  test('a node reads the ConfigMap it is assigned and no other node does; it reports for itself, and cannot assign itself', async () => {
    const { api, nodeTokens, namespace, configMaps } = here();
    const [a, b] = [api.as(nodeTokens['contract-a'] ?? ''), api.as(nodeTokens['contract-b'] ?? '')];
    const mine = `${configMaps}/mine`;
    await api.post(configMaps, { metadata: { name: 'mine' }, data: { kubelet: 'x' } });
    assert.equal((await a.get(mine)).code, 403);
    await api.patch(path, { spec: { configSource: { configMap: { ...reference, namespace, name: 'mine' } } } });
    // A real server learns of the reference from its own watch.
    await eventually('the node may read it', async () => (await a.get(mine)).code === 200);
    assert.equal((await a.get(`${configMaps}?fieldSelector=metadata.name%3Dmine`)).code, 200);
    assert.equal((await a.get(configMaps)).code, 403);
    isRefused(await b.get(mine), 403, /no relationship found between node 'contract-b' and this object/);
    assert.equal((await a.get(path)).code, 200);
    assert.equal((await a.patch(`${path}/status`, { status: { config: { error: 'e' } } })).code, 200);
    assert.equal((await b.patch(`${path}/status`, { status: { config: { error: 'f' } } })).code, 403);
    const other = { spec: { configSource: { configMap: { ...reference, name: 'other' } } } };
    isRefused(await a.patch(path, other), 403, 'node "contract-a" is not allowed to update configSource to a new non-nil configSource');
    assert.equal((await a.patch(path, { spec: { configSource: null } })).code, 200);
    const involvedObject = { kind: 'Node', name: 'contract-a', uid: 'contract-a' };
    const event = { metadata: { generateName: 'contract-a.', namespace: 'default' }, involvedObject, reason: 'KubeletConfigChanged' };
    assert.equal((await a.post('/api/v1/namespaces/default/events', event)).code, 201);
    assert.equal((await api.delete(path)).code, 200);
  });
}

/** Nodes where servers no longer keep an assignment: from 1.26 on, and before with the gate DynamicKubeletConfig off. */
export function droppedFieldsContract(here: Here): void {
  const spec = { configSource: { configMap: reference } };
  const status = { config: { assigned: { configMap: { ...reference, uid: 'u', resourceVersion: '1' } } } };
  const isDropped = ({ code, headers, json }: HttpAnswer, expected = 200): void => {
    assert.equal(code, expected, text(json['message']));
    assert.deepEqual([headers['warning'], json['spec']?.['configSource'], json['status']?.['config']], [undefined, undefined, undefined]);
  };

  test('assignment and report are dropped from every write of a node, without a warning', async () => {
    const { api } = here();
    isDropped(await api.post('/api/v1/nodes', { metadata: { name: 'contract-a' }, spec, status }), 201);
    const { json: node } = await api.get(path);
    isDropped(await api.put(path, { ...node, spec: { ...node['spec'], ...spec } }));
    isDropped(await api.patch(path, { spec }));
    const applied = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'contract-a' }, spec };
    isDropped(await api.patch(`${path}?fieldManager=contract&force=true`, applied, { type: 'application/apply-patch+yaml' }));
    // Not even one that no server would have taken is refused.
    isDropped(await api.patch(path, { spec: { configSource: { configMap: { name: 'A_b' } } } }));
    const report = await api.patch(`${path}/status`, { status: { ...status, capacity: { cpu: '2' } } });
    isDropped(report);
    assert.deepEqual(report.json['status']?.['capacity'], { cpu: '2' });
  });

  test('a node cannot assign itself, though it would be dropped, reports for itself alone, and reads no ConfigMap that no pod names', async () => {
    const { api, nodeTokens, configMaps } = here();
    const [a, b] = [api.as(nodeTokens['contract-a'] ?? ''), api.as(nodeTokens['contract-b'] ?? '')];
    assert.equal((await a.patch(`${path}/status`, { status: { capacity: { cpu: '3' } } })).code, 200);
    assert.equal((await b.patch(`${path}/status`, { status: { capacity: { cpu: '4' } } })).code, 403);
    isRefused(await a.patch(path, { spec }), 403, 'node "contract-a" is not allowed to update configSource to a new non-nil configSource');
    await api.post(configMaps, { metadata: { name: 'unnamed' }, data: { kubelet: 'x' } });
    isRefused(await a.get(`${configMaps}/unnamed`), 403, /no relationship found between node 'contract-a' and this object/);
    assert.equal((await api.delete(path)).code, 200);
  });
}
