import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused, type ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';

/** Deletes: what they ask first, what they leave, what they do not do. */
export function deletionContract(here: () => ContractWorld): void {
  test('a delete of another version than the present one is 409, and of the present one is done', async () => {
    const { api, configMaps } = here();
    const path = `${configMaps}/versioned-delete`;
    const { json: old } = await api.post(configMaps, { metadata: { name: 'versioned-delete' } });
    const { json: now } = await api.patch(path, { data: { a: '1' } });
    const [before, present] = [old, now].map((object) => text(object['metadata']?.['resourceVersion']));
    const refused = await api.delete(path, { preconditions: { resourceVersion: before } });
    assert.equal(refused.code, 409);
    assert.equal(
      refused.json['message'],
      `Operation cannot be fulfilled on ConfigMap "versioned-delete": the ResourceVersion in the precondition (${before}) does not match ` +
        `the ResourceVersion in record (${present}). The object might have been modified`,
    );
    assert.equal((await api.delete(path, { preconditions: { resourceVersion: present } })).code, 200);
    assert.equal((await api.get(path)).code, 404);
  });

  test('a dry run of a delete does nothing, whether the path or the body asks for it', async () => {
    const { api, configMaps } = here();
    const path = `${configMaps}/dry-delete`;
    await api.post(configMaps, { metadata: { name: 'dry-delete', labels: { dry: 'delete' } } });
    assert.equal((await api.delete(path, { dryRun: ['All'] })).json['status'], 'Success');
    assert.equal((await api.delete(`${path}?dryRun=All`)).json['status'], 'Success');
    assert.equal((await api.delete(`${configMaps}?labelSelector=dry%3Ddelete&dryRun=All`)).code, 200);
    assert.equal((await api.get(path)).code, 200);
  });

  test('a dry run of another kind than All is refused, and nothing is done', async () => {
    const { api, configMaps } = here();
    const path = `${configMaps}/half-dry`;
    assert.equal((await api.post(`${configMaps}?dryRun=Some`, { metadata: { name: 'half-dry' } })).code, 422);
    assert.equal((await api.get(path)).code, 404);
    await api.post(configMaps, { metadata: { name: 'half-dry' } });
    for (const refused of [
      await api.delete(path, { dryRun: ['Some'] }),
      await api.delete(`${path}?dryRun=Some`),
      await api.patch(`${path}?dryRun=Some`, { data: { a: '1' } }),
    ]) {
      assert.equal(refused.code, 422);
      assert.match(text(refused.json['message']), /^[A-Z][a-z]+Options\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: /);
    }
    assert.equal((await api.get(path)).json['data'], undefined);
  });

  test('an object that goes keeps the time of the first delete, and may still be changed', async () => {
    const { api, configMaps } = here();
    const path = `${configMaps}/going`;
    await api.post(configMaps, { metadata: { name: 'going', finalizers: ['example.com/a', 'example.com/b'] } });
    const first = (await api.delete(path)).json;
    assert.equal(first['kind'], 'ConfigMap'); // not a Status: it is still there
    const again = (await api.delete(path)).json;
    assert.deepEqual(again['metadata']?.['deletionTimestamp'], first['metadata']?.['deletionTimestamp']);
    assert.equal(again['metadata']?.['resourceVersion'], first['metadata']?.['resourceVersion']);
    assert.equal((await api.patch(path, { data: { a: '1' } })).code, 200);
    assert.equal((await api.post(configMaps, { metadata: { name: 'going' } })).code, 409);
    await api.patch(path, { metadata: { finalizers: ['example.com/b'] } });
    assert.equal((await api.get(path)).code, 200);
    await api.patch(path, { metadata: { finalizers: [] } });
    assert.equal((await api.get(path)).code, 404);
  });

  test('a watch sees one that goes as MODIFIED, and DELETED when its last finalizer is gone', async () => {
    const { api, configMaps } = here();
    const path = `${configMaps}/seen-going`;
    const { json } = await api.post(configMaps, { metadata: { name: 'seen-going', finalizers: ['example.com/a'] } });
    const from = text(json['metadata']?.['resourceVersion']);
    const watch = await api.watch(`${configMaps}?watch=1&fieldSelector=metadata.name%3Dseen-going&resourceVersion=${from}`);
    await api.delete(path);
    const marked = await watch.next();
    assert.equal(marked?.type, 'MODIFIED');
    assert.notEqual(marked.object['metadata']?.['deletionTimestamp'], undefined);
    await api.patch(path, { metadata: { finalizers: null } });
    const last = await watch.next();
    assert.equal(last?.type, 'DELETED');
    assert.equal(last.object['metadata']?.['uid'], json['metadata']?.['uid']);
    watch.close();
  });

  for (const { why, options } of [
    { why: 'that nobody knows', options: { propagationPolicy: 'Sideways' } },
    { why: 'said twice', options: { propagationPolicy: 'Orphan', orphanDependents: true } },
  ]) {
    test(`a delete with a policy ${why} is 422, and nothing is done`, async () => {
      const { api, configMaps } = here();
      await api.post(configMaps, { metadata: { name: 'policy' } });
      isRefused(await api.delete(`${configMaps}/policy`, options), 422, /^DeleteOptions\.meta\.k8s\.io "" is invalid: propagationPolicy: /);
      assert.equal((await api.delete(`${configMaps}/policy`)).code, 200);
    });
  }
}
