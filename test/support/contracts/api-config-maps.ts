import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byRelease, isRefused, type ContractWorld, type ServerRelease } from './contract-world.ts';

const MAX_BYTES = 1024 * 1024;

const refused: [why: string, bags: object, says: RegExp, today?: RegExp][] = [
  ['keys with separators', { data: { 'a/b': 'x' } }, /^ConfigMap "bad" is invalid: data\[a\/b\]: Invalid value: "a\/b": a valid config key must consist of/], // prettier-ignore
  ['the key of the parent directory', { data: { '..': 'x' } }, /data\[\.\.\]: Invalid value: "\.\.": must not be '\.\.'$/],
  ['keys that start with two dots', { data: { '..x': 'x' } }, /data\[\.\.x\]: Invalid value: "\.\.x": must not start with '\.\.'$/],
  ['a key in both bags', { data: { a: 'x' }, binaryData: { a: 'eA==' } }, /data\[a\]: Invalid value: "a": duplicate of key present in binaryData$/], // prettier-ignore
  ['more than a mebibyte', { data: { a: 'x'.repeat(MAX_BYTES), b: 'y' } }, /Too long: must have at most 1048576 bytes$/, /Too long: may not be more than 1048576 bytes$/], // prettier-ignore
];

/** What dkc relies on of ConfigMaps: safe keys, bounded size, immutability. */
export function configMapContract(here: () => ContractWorld, release: ServerRelease): void {
  for (const [why, bags, says, today] of refused) {
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
