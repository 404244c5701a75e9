import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { WatchLine } from '../api-http.ts';
import { bookmarkOf } from './bookmark.ts';

const line = (event: WatchLine | undefined): string => `${event?.type} ${text(event?.object['metadata']?.['name'])}`;

/** Watches: order, versions, selections, bookmarks, ends. */
export function watchContract(here: () => ContractWorld): void {
  const only = (name: string) => `watch=1&fieldSelector=metadata.name%3D${name}`;

  test('without a version a watch starts with what is there', async () => {
    const { api, configMaps } = here();
    await api.post(configMaps, { metadata: { name: 'watched' } });
    const watch = await api.watch(`${configMaps}?${only('watched')}`);
    assert.equal(line(await watch.next()), 'ADDED watched');
    await api.patch(`${configMaps}/watched`, { data: { a: '1' } });
    const changed = await watch.next();
    assert.equal(line(changed), 'MODIFIED watched');
    assert.equal(changed?.object['kind'], 'ConfigMap');
    assert.equal(changed?.object['data']?.['a'], '1');
    await api.delete(`${configMaps}/watched`);
    const gone = await watch.next();
    assert.equal(line(gone), 'DELETED watched');
    assert.ok(Number(gone?.object['metadata']?.['resourceVersion']) > Number(changed?.object['metadata']?.['resourceVersion']));
    watch.close();
  });

  test('from a version a watch tells what came after it', async () => {
    const { api, configMaps } = here();
    const { json } = await api.post(configMaps, { metadata: { name: 'from' } });
    await api.patch(`${configMaps}/from`, { data: { a: '1' } });
    await api.patch(`${configMaps}/from`, { data: { a: '2' } });
    const watch = await api.watch(`${configMaps}?${only('from')}&resourceVersion=${text(json['metadata']?.['resourceVersion'])}`);
    await api.patch(`${configMaps}/from`, { data: { a: 'last' } });
    const told: unknown[] = [];
    while (told.at(-1) !== 'last') told.push((await watch.next())?.object['data']?.['a'] ?? assert.fail('the watch ended'));
    assert.deepEqual(told, ['1', '2', 'last']);
    watch.close();
  });

  test('an object that comes into a selection is ADDED, one that falls out of it DELETED', async () => {
    const { api, configMaps } = here();
    const { json } = await api.post(configMaps, { metadata: { name: 'moving' } });
    const version = text(json['metadata']?.['resourceVersion']);
    const watch = await api.watch(`${configMaps}?watch=1&labelSelector=in%3Dyes&resourceVersion=${version}`);
    await api.patch(`${configMaps}/moving`, { metadata: { labels: { in: 'yes' } } });
    assert.equal(line(await watch.next()), 'ADDED moving');
    await api.patch(`${configMaps}/moving`, { metadata: { labels: { in: 'no' } } });
    assert.equal(line(await watch.next()), 'DELETED moving');
    watch.close();
  });

  test('a bookmark comes before the time is over, and the watch ends', async () => {
    const { api, configMaps, bookmarkSeconds } = here();
    const query = `${only('nobody')}&allowWatchBookmarks=true&timeoutSeconds=${bookmarkSeconds}`;
    const { bookmark, change } = await bookmarkOf(async (n) => {
      const { json } = await api.get(configMaps);
      const watch = await api.watch(`${configMaps}?${query}&resourceVersion=${text(json['metadata']?.['resourceVersion'])}`);
      // A change that the watch does not show; without any the real server has no news to tell.
      const { json: other } = await api.post(configMaps, { metadata: { name: `unseen-${n}` } });
      return { watch, change: Number(other['metadata']?.['resourceVersion']) };
    });
    assert.equal(bookmark['kind'], 'ConfigMap');
    assert.ok(Number(bookmark['metadata']?.['resourceVersion']) >= change);
  });

  test('a watch on an unknown field is 400 before anything else', async () => {
    const { api, configMaps } = here();
    assert.equal((await api.get(`${configMaps}?watch=1&fieldSelector=data.a%3D1`)).code, 400);
    const none = await api.get(`${configMaps}?watch=1&resourceVersion=x`);
    assert.ok([400, 500].includes(none.code), `${none.code}`); // 1.20 calls its own error what is the caller's
  });

  test('as a table each event is a table of one row, the first with columns', async () => {
    const { api, configMaps } = here();
    await api.post(configMaps, { metadata: { name: 'tabled' } });
    const watch = await api.watch(`${configMaps}?${only('tabled')}`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const first = await watch.next();
    assert.equal(first?.object['kind'], 'Table');
    assert.equal(Object.keys(first.object['columnDefinitions'] ?? {}).length, 3);
    assert.equal(Object.keys(first.object['rows'] ?? {}).length, 1);
    watch.close();
  });
}
