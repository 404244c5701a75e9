import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';

/** Create, read, update and delete, as every kind has them. */
export function objectContract(here: () => ContractWorld): void {
  test('a new object gets uid, version and time, and is read back as it was answered', async () => {
    const { api, configMaps, namespace } = here();
    const made = await api.post(configMaps, { metadata: { name: 'made' }, data: { a: '1' } });
    assert.equal(made.code, 201);
    const { metadata } = made.json;
    assert.match(text(metadata?.['uid']), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(text(metadata?.['resourceVersion']), /^\d+$/);
    assert.match(text(metadata?.['creationTimestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(metadata?.['namespace'], namespace);
    assert.equal(made.json['kind'], 'ConfigMap');
    assert.equal(made.json['apiVersion'], 'v1');
    assert.deepEqual((await api.get(`${configMaps}/made`)).json, made.json);
  });

  test('a name that is taken is 409 AlreadyExists', async () => {
    const { api, configMaps } = here();
    await api.post(configMaps, { metadata: { name: 'taken' } });
    const { code, json } = await api.post(configMaps, { metadata: { name: 'taken' } });
    assert.equal(code, 409);
    assert.equal(json['kind'], 'Status');
    assert.equal(json['reason'], 'AlreadyExists');
    assert.equal(json['message'], 'configmaps "taken" already exists');
    assert.deepEqual(json['details'], { name: 'taken', kind: 'configmaps' });
  });

  test('generateName makes up a name', async () => {
    const { api, configMaps } = here();
    const { json } = await api.post(configMaps, { metadata: { generateName: 'some-' } });
    assert.match(text(json['metadata']?.['name']), /^some-[a-z0-9]{5}$/);
  });

  test('a namespace that is not there is 404, before anything is looked at', async () => {
    const { api } = here();
    const { code, json } = await api.post('/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'BAD' } });
    assert.equal(code, 404);
    assert.equal(json['message'], 'namespaces "nowhere" not found');
  });

  test('an object that is not there is 404 NotFound, for every verb', async () => {
    const { api, configMaps } = here();
    const missing = `${configMaps}/missing`;
    for (const answer of [await api.get(missing), await api.patch(missing, {}), await api.delete(missing)]) {
      assert.equal(answer.code, 404);
      assert.equal(answer.json['reason'], 'NotFound');
      assert.equal(answer.json['message'], 'configmaps "missing" not found');
    }
  });

  test('a bad name is 422 Invalid and names the field', async () => {
    const { api, configMaps } = here();
    const { code, json } = await api.post(configMaps, { metadata: { name: 'Not_Good' } });
    assert.equal(code, 422);
    assert.equal(json['reason'], 'Invalid');
    const [cause] = Object.values(json['details']?.['causes'] ?? {});
    assert.equal(cause?.['reason'], 'FieldValueInvalid');
    assert.equal(cause?.['field'], 'metadata.name');
    assert.match(text(json['message']), /^ConfigMap "Not_Good" is invalid: metadata\.name: Invalid value: "Not_Good": /);
  });

  test('a name or namespace that differs from the path is 400', async () => {
    const { api, configMaps } = here();
    const other = await api.post(configMaps, { metadata: { name: 'x', namespace: 'default' } });
    assert.equal(other.code, 400);
    assert.equal(other.json['message'], 'the namespace of the provided object does not match the namespace sent on the request');
    await api.post(configMaps, { metadata: { name: 'here' } });
    const renamed = await api.put(`${configMaps}/here`, { metadata: { name: 'there' } });
    assert.equal(renamed.code, 400);
    assert.equal(renamed.json['message'], 'the name of the object (there) does not match the name on the URL (here)');
  });

  test('an update with an old version is 409 Conflict; without one it wins', async () => {
    const { api, configMaps } = here();
    const old = (await api.post(configMaps, { metadata: { name: 'raced' } })).json;
    const path = `${configMaps}/raced`;
    const first = await api.put(path, { ...old, data: { a: '1' } });
    assert.equal(first.code, 200);
    assert.notEqual(first.json['metadata']?.['resourceVersion'], old['metadata']?.['resourceVersion']);
    const second = await api.put(path, { ...old, data: { a: '2' } });
    assert.equal(second.code, 409);
    assert.equal(second.json['reason'], 'Conflict');
    assert.equal(
      second.json['message'],
      'Operation cannot be fulfilled on configmaps "raced": the object has been modified; please apply your changes to the latest version and try again',
    );
    assert.equal((await api.put(path, { metadata: { name: 'raced' }, data: { a: '3' } })).json['data']?.['a'], '3');
  });

  test('an update that changes nothing keeps the version', async () => {
    const { api, configMaps } = here();
    const { json } = await api.post(configMaps, { metadata: { name: 'same' }, data: { a: '1' } });
    assert.deepEqual(
      (await api.put(`${configMaps}/same`, json)).json['metadata']?.['resourceVersion'],
      json['metadata']?.['resourceVersion'],
    );
  });

  test('an update keeps uid and time, and refuses another uid', async () => {
    const { api, configMaps } = here();
    const { json } = await api.post(configMaps, { metadata: { name: 'kept' } });
    const changed = await api.put(`${configMaps}/kept`, { metadata: { name: 'kept' }, data: { a: '1' } });
    assert.equal(changed.json['metadata']?.['uid'], json['metadata']?.['uid']);
    assert.equal(changed.json['metadata']?.['creationTimestamp'], json['metadata']?.['creationTimestamp']);
    assert.equal((await api.put(`${configMaps}/kept`, { metadata: { name: 'kept', uid: 'other' } })).code, 409);
  });

  test('a dry run answers and does nothing', async () => {
    const { api, configMaps } = here();
    assert.equal((await api.post(`${configMaps}?dryRun=All`, { metadata: { name: 'dry' } })).code, 201);
    assert.equal((await api.get(`${configMaps}/dry`)).code, 404);
    await api.post(configMaps, { metadata: { name: 'wet' } });
    assert.equal((await api.delete(`${configMaps}/wet?dryRun=All`)).code, 200);
    assert.equal((await api.patch(`${configMaps}/wet?dryRun=All`, { data: { a: '1' } })).json['data']?.['a'], '1');
    assert.equal((await api.get(`${configMaps}/wet`)).json['data'], undefined);
  });

  test('a delete checks its preconditions', async () => {
    const { api, configMaps } = here();
    const { json } = await api.post(configMaps, { metadata: { name: 'guarded' } });
    const wrong = await api.delete(`${configMaps}/guarded`, { preconditions: { uid: 'other' } });
    assert.equal(wrong.code, 409);
    assert.equal(wrong.json['reason'], 'Conflict');
    const right = await api.delete(`${configMaps}/guarded`, { preconditions: { uid: json['metadata']?.['uid'] } });
    assert.equal(right.code, 200);
    assert.equal(right.json['status'], 'Success');
    assert.equal(right.json['details']?.['uid'], json['metadata']?.['uid']);
  });

  test('finalizers hold an object until they are gone', async () => {
    const { api, configMaps } = here();
    const path = `${configMaps}/held`;
    await api.post(configMaps, { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
    await api.delete(path);
    assert.notEqual((await api.get(path)).json['metadata']?.['deletionTimestamp'], undefined);
    assert.equal((await api.patch(path, { metadata: { finalizers: ['example.com/hold', 'example.com/late'] } })).code, 422);
    assert.equal((await api.patch(path, { metadata: { finalizers: null } })).code, 200);
    assert.equal((await api.get(path)).code, 404);
  });

  test('a collection is deleted by selector', async () => {
    const { api, configMaps } = here();
    for (const [name, group] of [
      ['one', 'x'],
      ['two', 'x'],
      ['three', 'y'],
    ]) {
      await api.post(configMaps, { metadata: { name, labels: { group } } });
    }
    assert.equal((await api.delete(`${configMaps}?labelSelector=group%3Dx`)).code, 200);
    const left = (await api.get(`${configMaps}?labelSelector=group`)).json;
    assert.deepEqual(
      Object.values(left['items'] ?? {}).map((item) => item['metadata']?.['name']),
      ['three'],
    );
  });

  test('bodies that are no objects are told so', async () => {
    const { api, configMaps } = here();
    for (const raw of ['{', '[1]', '"text"']) assert.equal((await api.call('POST', configMaps, { raw })).code, 400, raw);
    assert.equal((await api.call('POST', configMaps, { raw: 'a=b', type: 'text/plain' })).code, 415);
    assert.equal((await api.call('POST', configMaps, { raw: 'metadata: {name: from-yaml}\n', type: 'application/yaml' })).code, 201);
    assert.equal(
      (await api.call('POST', configMaps, { raw: JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }) })).code,
      400,
    );
    const typed = await api.post(configMaps, { metadata: { name: 'typed' }, data: { a: 1 } });
    assert.equal(typed.code, 400);
  });

  test('an unknown token is 401, an unknown path 404, a wrong method 405', async () => {
    const { api, configMaps } = here();
    const stranger = await api.get(configMaps, { token: 'nobodys' });
    assert.equal(stranger.code, 401);
    assert.equal(stranger.json['reason'], 'Unauthorized');
    assert.equal((await api.get('/api/v1/nothing')).code, 404);
    assert.equal((await api.post(`${configMaps}/x`, {})).code, 405);
  });

  test('says what it is and that it lives', async () => {
    const { api } = here();
    for (const path of ['/healthz', '/livez', '/readyz']) assert.equal((await api.get(path)).text, 'ok', path);
    const version = (await api.get('/version')).json;
    assert.match(text(version['gitVersion']), /^v1\.\d+/);
    assert.equal(version['major'], '1');
  });
}
