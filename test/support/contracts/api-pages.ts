import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byRelease, type ContractWorld, type ServerRelease } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { HttpAnswer } from '../api-http.ts';
import { eventually } from '../eventually.ts';

const names = ({ json }: HttpAnswer): string[] => Object.values(json['items'] ?? {}).map((item) => text(item['metadata']?.['name']));
const token = ({ json }: HttpAnswer): string => encodeURIComponent(text(json['metadata']?.['continue']));

/** Lists in pages, with and without versions: what a reflector asks. */
export function pageContract(here: () => ContractWorld, release: ServerRelease): void {
  /** Service accounts, as nothing else here makes any that stay. */
  const accounts = (): string => `/api/v1/namespaces/${here().namespace}/serviceaccounts`;
  const all = ['page-a', 'page-b', 'page-c', 'page-d', 'page-e'];
  const selector = 'labelSelector=page';
  let version = '';

  test('a page that may come from a cache is the whole list', async () => {
    for (const name of all) await here().api.post(accounts(), { metadata: { name, labels: { page: name < 'page-c' ? 'early' : 'late' } } });
    // A cache follows a little after, and keeps no order.
    const list = await eventually('the cache has them all', async () => {
      const some = await here().api.get(`${accounts()}?${selector}&limit=2&resourceVersion=0`);
      return names(some).length === all.length ? some : undefined;
    });
    assert.deepEqual(names(list).sort(), all);
    assert.equal(list.json['metadata']?.['continue'], undefined);
    version = text(list.json['metadata']?.['resourceVersion']);
  });

  for (const match of ['', '&resourceVersionMatch=NotOlderThan', '&resourceVersionMatch=Exact']) {
    test(`with a limit a version is served in pages${match.replace(/.*=/, ', ')}`, async () => {
      const { api } = here();
      const first = await api.get(`${accounts()}?${selector}&limit=2&resourceVersion=${version}${match}`);
      assert.deepEqual(names(first), all.slice(0, 2));
      const rest = await api.get(`${accounts()}?${selector}&limit=500&continue=${token(first)}`);
      assert.deepEqual(names(rest), all.slice(2));
      assert.equal(rest.json['metadata']?.['resourceVersion'], first.json['metadata']?.['resourceVersion']);
    });
  }

  test('a page is filled with what is selected, and does not say how much is left', async () => {
    const { api } = here();
    const first = await api.get(`${accounts()}?labelSelector=page%3Dlate&limit=2`);
    assert.deepEqual(names(first), ['page-c', 'page-d']);
    assert.equal(first.json['metadata']?.['remainingItemCount'], undefined);
    assert.deepEqual(names(await api.get(`${accounts()}?labelSelector=page%3Dlate&limit=2&continue=${token(first)}`)), ['page-e']);
  });

  test('a continued list takes no version but 0', async () => {
    const { api } = here();
    const next = `${accounts()}?${selector}&limit=2&continue=${token(await api.get(`${accounts()}?${selector}&limit=2`))}`;
    const refused = await api.get(`${next}&resourceVersion=${version}`);
    assert.equal(refused.code, 400);
    assert.equal(refused.json['message'], 'specifying resource version is not allowed when using continue');
    // From its cache a server of today gives all that is left.
    const rest = byRelease(release, ['page-c', 'page-d'], ['page-c', 'page-d', 'page-e']);
    assert.deepEqual(names(await api.get(`${next}&resourceVersion=0`)), rest);
  });

  const refusals = [
    { query: 'resourceVersionMatch=Exact', says: 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided' },
    {
      query: 'resourceVersionMatch=Exact&resourceVersion=0',
      says: 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    },
    {
      query: 'resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=x',
      says: 'Forbidden: resourceVersionMatch is forbidden when continue is provided',
    },
    {
      query: 'resourceVersionMatch=About&resourceVersion=1',
      says: 'Unsupported value: "About": supported values: "Exact", "NotOlderThan", ""',
    },
  ];
  for (const { query, says } of refusals) {
    test(`a list with ${query} is 422`, async () => {
      const { code, json } = await here().api.get(`${accounts()}?${query}`);
      assert.equal(code, 422);
      assert.equal(json['message'], `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: ${says}`);
    });
  }

  test('objects made and gone between two pages are on neither, whatever their names', async () => {
    const { api } = here();
    const first = await api.get(`${accounts()}?${selector}&limit=2`);
    await api.post(accounts(), { metadata: { name: 'page-aa', labels: { page: 'new' } } });
    await api.post(accounts(), { metadata: { name: 'page-dd', labels: { page: 'new' } } });
    await api.delete(`${accounts()}/page-d`);
    await api.delete(`${accounts()}/page-b`);
    assert.deepEqual(names(await api.get(`${accounts()}?${selector}&limit=9&continue=${token(first)}`)), ['page-c', 'page-d', 'page-e']);
    assert.deepEqual(names(await api.get(`${accounts()}?${selector}`)), ['page-a', 'page-aa', 'page-c', 'page-dd', 'page-e']);
  });
}
