import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused, type ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { HttpAnswer } from '../api-http.ts';

const names = ({ json }: HttpAnswer): string[] => Object.values(json['items'] ?? {}).map((item) => text(item['metadata']?.['name']));

/** Lists: order, selectors, pages, versions, tables. */
export function listContract(here: () => ContractWorld): void {
  const label = 'labelSelector=list%3Dyes';

  test('a list is in the order of names, has a version, and its items no kind', async () => {
    const { api, configMaps } = here();
    for (const name of ['list-c', 'list-a', 'list-e', 'list-b', 'list-d']) {
      await api.post(configMaps, { metadata: { name, labels: { list: 'yes', vowel: text('ae'.includes(name.slice(-1))) } } });
    }
    const list = await api.get(`${configMaps}?${label}`);
    assert.deepEqual(names(list), ['list-a', 'list-b', 'list-c', 'list-d', 'list-e']);
    assert.equal(list.json['kind'], 'ConfigMapList');
    assert.match(text(list.json['metadata']?.['resourceVersion']), /^\d+$/);
    assert.equal(Object.values(list.json['items'] ?? {})[0]?.['kind'], undefined);
  });

  const selections = [
    { query: 'labelSelector=list%3Dyes,vowel%3Dtrue', found: ['list-a', 'list-e'] },
    { query: 'labelSelector=list,vowel!%3Dtrue', found: ['list-b', 'list-c', 'list-d'] },
    { query: 'labelSelector=vowel%20in%20(true,maybe)', found: ['list-a', 'list-e'] },
    { query: 'fieldSelector=metadata.name%3Dlist-c', found: ['list-c'] },
    { query: 'fieldSelector=metadata.name!%3Dlist-c&labelSelector=vowel%3Dfalse', found: ['list-b', 'list-d'] },
  ];
  for (const { query, found } of selections) {
    test(`selects by ${decodeURIComponent(query)}`, async () => {
      const { api, configMaps } = here();
      assert.deepEqual(names(await api.get(`${configMaps}?${query}`)), found);
    });
  }

  test('a selector that cannot be read, or by a field that cannot be selected by, is 400', async () => {
    const { api, configMaps } = here();
    assert.equal((await api.get(`${configMaps}?labelSelector=a%20in%20b`)).code, 400);
    assert.equal((await api.get(`${configMaps}?fieldSelector=data.a%3D1`)).code, 400);
  });

  test('pages show one version, whatever happens in between', async () => {
    const { api, configMaps } = here();
    const first = await api.get(`${configMaps}?${label}&limit=2`);
    assert.deepEqual(names(first), ['list-a', 'list-b']);
    await api.delete(`${configMaps}/list-c`);
    await api.post(configMaps, { metadata: { name: 'list-cc', labels: { list: 'yes' } } });
    const seen = names(first);
    let page = first;
    while (page.json['metadata']?.['continue'] !== undefined) {
      page = await api.get(`${configMaps}?${label}&limit=2&continue=${encodeURIComponent(text(page.json['metadata']['continue']))}`);
      assert.equal(page.json['metadata']?.['resourceVersion'], first.json['metadata']?.['resourceVersion']);
      seen.push(...names(page));
    }
    assert.deepEqual(seen, ['list-a', 'list-b', 'list-c', 'list-d', 'list-e']);
    assert.deepEqual(names(await api.get(`${configMaps}?${label}`)), ['list-a', 'list-b', 'list-cc', 'list-d', 'list-e']);
  });

  test('a list without selector says how many are left', async () => {
    const { api, configMaps } = here();
    const all = names(await api.get(configMaps)).length;
    const page = await api.get(`${configMaps}?limit=2`);
    assert.equal(page.json['metadata']?.['remainingItemCount'], all - 2);
  });

  test('a broken continue token is 400, a version from the future 504', async () => {
    const { api, configMaps } = here();
    assert.equal((await api.get(`${configMaps}?limit=1&continue=broken`)).code, 400);
    const future = isRefused(
      await api.get(`${configMaps}?resourceVersion=900000000`),
      504,
      /^Timeout: Too large resource version: 900000000, current: \d+/,
    );
    assert.equal(Object.values(future['details']?.['causes'] ?? {})[0]?.['reason'], 'ResourceVersionTooLarge');
    const none = await api.get(`${configMaps}?resourceVersion=x`);
    assert.ok([400, 500].includes(none.code), `${none.code}`); // 1.20 calls its own error what is the caller's
  });

  test('resourceVersion=0 and NotOlderThan give the present state, Exact the state of then', async () => {
    const { api, configMaps } = here();
    const before = await api.get(`${configMaps}?${label}`);
    const version = text(before.json['metadata']?.['resourceVersion']);
    await api.post(configMaps, { metadata: { name: 'list-z', labels: { list: 'yes' } } });
    const exact = await api.get(`${configMaps}?${label}&resourceVersion=${version}&resourceVersionMatch=Exact&limit=500`);
    assert.deepEqual(names(exact), names(before));
    const newer = await api.get(`${configMaps}?${label}&resourceVersion=${version}&resourceVersionMatch=NotOlderThan`);
    assert.equal(newer.code, 200);
    assert.equal((await api.get(`${configMaps}?${label}&resourceVersion=0`)).code, 200);
  });

  test('as a table it has columns, cells and the metadata of each', async () => {
    const { api, configMaps } = here();
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const { json } = await api.get(`${configMaps}?${label}&limit=1`, { accept });
    assert.equal(json['kind'], 'Table');
    assert.deepEqual(
      Object.values(json['columnDefinitions'] ?? {}).map((column) => column['name']),
      ['Name', 'Data', 'Age'],
    );
    const [row] = Object.values(json['rows'] ?? {});
    assert.deepEqual(Object.values(row?.['cells'] ?? {}).slice(0, 2), ['list-a', 0]);
    assert.equal(row?.['object']?.['kind'], 'PartialObjectMetadata');
    assert.equal((await api.get(`${configMaps}/list-a`, { accept })).json['kind'], 'Table');
  });

  test('a form nobody can write is 406', async () => {
    const { api, configMaps } = here();
    assert.equal((await api.get(configMaps, { accept: 'image/png' })).code, 406);
  });
}
