import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';

const strategic = { type: 'application/strategic-merge-patch+json' };
const json = { type: 'application/json-patch+json' };
const apply = { type: 'application/apply-patch+yaml' };

/** The three patches, and server-side apply. */
export function patchContract(here: () => ContractWorld): void {
  test('a merge patch sets and removes', async () => {
    const { api, configMaps } = here();
    await api.post(configMaps, { metadata: { name: 'merge' }, data: { a: '1', b: '2' } });
    const patched = await api.patch(`${configMaps}/merge`, { data: { a: null, c: '3' } });
    assert.equal(patched.code, 200);
    assert.deepEqual(patched.json['data'], { b: '2', c: '3' });
  });

  test('a JSON patch does its steps, all or none', async () => {
    const { api, configMaps } = here();
    await api.post(configMaps, { metadata: { name: 'steps' }, data: { a: '1' } });
    const path = `${configMaps}/steps`;
    const done = await api.patch(
      path,
      [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'add', path: '/data/b', value: '2' },
      ],
      json,
    );
    assert.deepEqual(done.json['data'], { a: '1', b: '2' });
    const failed = await api.patch(
      path,
      [
        { op: 'remove', path: '/data/a' },
        { op: 'test', path: '/data/b', value: 'x' },
      ],
      json,
    );
    assert.equal(failed.code, 422);
    assert.deepEqual((await api.get(path)).json['data'], { a: '1', b: '2' });
  });

  test('a strategic merge patch merges conditions by type', async () => {
    const { api } = here();
    await api.post('/api/v1/nodes', { metadata: { name: 'contract-strategic' } });
    const path = '/api/v1/nodes/contract-strategic';
    await api.patch(
      `${path}/status`,
      {
        status: {
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'Other', status: 'False' },
          ],
        },
      },
      strategic,
    );
    const { json: node } = await api.patch(`${path}/status`, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, strategic);
    const conditions = Object.values(node['status']?.['conditions'] ?? {}).map((one) => `${text(one['type'])}=${text(one['status'])}`);
    assert.deepEqual(conditions.sort(), ['Other=False', 'Ready=False']);
    await api.delete(path);
  });

  test('a patch of another media type is 415, one that cannot be read 400', async () => {
    const { api, configMaps } = here();
    await api.post(configMaps, { metadata: { name: 'media' } });
    assert.equal((await api.patch(`${configMaps}/media`, {}, { type: 'application/json' })).code, 415);
    for (const { type } of [strategic, json]) {
      assert.equal((await api.call('PATCH', `${configMaps}/media`, { raw: '{', type })).code, 400, type);
    }
    const merge = await api.call('PATCH', `${configMaps}/media`, { raw: '{', type: 'application/merge-patch+json' });
    assert.ok([400, 500].includes(merge.code), `${merge.code}`); // 1.20 calls its own error what is the caller's
  });

  test('a patch with an old version is 409', async () => {
    const { api, configMaps } = here();
    const { json: old } = await api.post(configMaps, { metadata: { name: 'versioned' } });
    await api.patch(`${configMaps}/versioned`, { data: { a: '1' } });
    const resourceVersion = old['metadata']?.['resourceVersion'];
    assert.equal((await api.patch(`${configMaps}/versioned`, { metadata: { resourceVersion }, data: { a: '2' } })).code, 409);
  });

  test('server-side apply creates, takes back what it no longer says, and meets other managers', async () => {
    const { api, configMaps } = here();
    const path = `${configMaps}/applied`;
    const object = (data: Record<string, string>) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data });
    const made = await api.patch(`${path}?fieldManager=first`, object({ a: '1', b: '2' }), apply);
    assert.equal(made.code, 201);
    const again = await api.patch(`${path}?fieldManager=first`, object({ a: '1' }), apply);
    assert.deepEqual(again.json['data'], { a: '1' });
    const refused = await api.patch(`${path}?fieldManager=second`, object({ a: '2' }), apply);
    assert.equal(refused.code, 409);
    assert.equal(refused.json['message'], 'Apply failed with 1 conflict: conflict with "first": .data.a');
    assert.deepEqual(Object.values(refused.json['details']?.['causes'] ?? {}), [
      { reason: 'FieldManagerConflict', message: 'conflict with "first"', field: '.data.a' },
    ]);
    const forced = await api.patch(`${path}?fieldManager=second&force=true`, object({ a: '2' }), apply);
    assert.deepEqual(forced.json['data'], { a: '2' });
    assert.equal((await api.patch(path, object({ a: '3' }), apply)).code, 422);
  });

  test('who applies a part of an object owns that part alone', async () => {
    const { api, configMaps } = here();
    const path = configMaps.replace('/api/v1', '/apis/apps/v1').replace('configmaps', 'daemonsets/part');
    const part = (annotations: object, more = {}) => ({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'part', annotations },
      ...more,
    });
    const template = { metadata: { labels: { app: 'part' } }, spec: { containers: [{ name: 'main', image: 'app:1' }] } };
    const spec = { selector: { matchLabels: { app: 'part' } }, template };
    assert.equal((await api.patch(`${path}?fieldManager=first`, part({ a: '1' }, { spec }), apply)).code, 201);
    const { code, json } = await api.patch(`${path}?fieldManager=second`, part({ b: '2' }), apply);
    assert.equal(code, 200, JSON.stringify(json['message']));
    const { managedFields } = json['metadata'] as unknown as { managedFields: { manager: string; fieldsV1: object }[] };
    const own = managedFields.find(({ manager }) => manager === 'second');
    assert.deepEqual(own?.fieldsV1, { 'f:metadata': { 'f:annotations': { 'f:b': {} } } });
  });
}
