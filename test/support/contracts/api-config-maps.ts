import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byRelease, isRefused, type ContractWorld, type ServerRelease } from './contract-world.ts';

const MAX_BYTES = 1024 * 1024;

const refused = [
  {
    why: 'keys with separators',
    data: { 'a/b': 'x' },
    says: /^ConfigMap "bad" is invalid: data\[a\/b\]: Invalid value: "a\/b": a valid config key must consist of/,
  },
  { why: 'the key of the parent directory', data: { '..': 'x' }, says: /data\[\.\.\]: Invalid value: "\.\.": must not be '\.\.'$/ },
  {
    why: 'keys that start with two dots',
    data: { '..x': 'x' },
    says: /data\[\.\.x\]: Invalid value: "\.\.x": must not start with '\.\.'$/,
  },
  {
    why: 'a key in both bags',
    data: { a: 'x' },
    binaryData: { a: 'eA==' },
    says: /data\[a\]: Invalid value: "a": duplicate of key present in binaryData$/,
  },
  {
    why: 'more than a mebibyte',
    data: { a: 'x'.repeat(MAX_BYTES), b: 'y' },
    says: /Too long: must have at most 1048576 bytes$/,
    today: /Too long: may not be more than 1048576 bytes$/,
  },
];

/** What dkc relies on of ConfigMaps: safe keys, bounded size, immutability. */
export function configMapContract(here: () => ContractWorld, release: ServerRelease): void {
  for (const { why, says, today, ...bags } of refused) {
    test(`a ConfigMap is refused for ${why}`, async () => {
      const { api, configMaps } = here();
      isRefused(await api.post(configMaps, { metadata: { name: 'bad' }, ...bags }), 422, byRelease(release, says, today));
    });
  }

  test('a mebibyte is not too much', async () => {
    const { api, configMaps } = here();
    assert.equal((await api.post(configMaps, { metadata: { name: 'full' }, data: { a: 'x'.repeat(MAX_BYTES) } })).code, 201);
    await api.delete(`${configMaps}/full`);
  });

  test('an immutable one keeps its data and its flag', async () => {
    const { api, configMaps } = here();
    await api.post(configMaps, { metadata: { name: 'fixed' }, immutable: true, data: { a: '1' } });
    const path = `${configMaps}/fixed`;
    const changed = await api.patch(path, { data: { a: '2' } });
    assert.equal(changed.code, 422);
    assert.equal(changed.json['message'], 'ConfigMap "fixed" is invalid: data: Forbidden: field is immutable when `immutable` is set');
    const freed = await api.patch(path, { immutable: null });
    assert.equal(freed.json['message'], 'ConfigMap "fixed" is invalid: immutable: Forbidden: field is immutable when `immutable` is set');
    assert.equal((await api.patch(path, { metadata: { labels: { a: 'b' } } })).code, 200);
    assert.equal((await api.delete(path)).code, 200);
  });
}
