import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { HttpAnswer } from '../api-http.ts';

const version = ({ json }: HttpAnswer): string => text(json['metadata']?.['resourceVersion']);

/** A server that has forgotten its past. Comes last: it may have been restarted for it. */
export function forgettingContract(here: () => ContractWorld): void {
  test('old versions and continue tokens are 410 Expired, and a new list makes up for it', async () => {
    const { api, configMaps, forget } = here();
    const label = 'labelSelector=forgetting';
    for (const name of ['forget-a', 'forget-b', 'forget-c'])
      await api.post(configMaps, { metadata: { name, labels: { forgetting: 'x' } } });
    const page = await api.get(`${configMaps}?${label}&limit=1`);
    for (const n of ['1', '2', '3']) await api.patch(`${configMaps}/forget-b`, { data: { n } });
    const kept = await api.get(`${configMaps}?${label}`);
    await forget();

    const continued = await api.get(
      `${configMaps}?${label}&limit=1&continue=${encodeURIComponent(text(page.json['metadata']?.['continue']))}`,
    );
    assert.equal(continued.code, 410);
    assert.equal(continued.json['reason'], 'Expired');
    // The real server offers a way on, at another version.
    const other = continued.json['metadata']?.['continue'];
    if (other !== undefined) {
      const { json } = await api.get(`${configMaps}?${label}&continue=${encodeURIComponent(text(other))}`);
      const names = Object.values(json['items'] ?? {}).map((item) => text(item['metadata']?.['name']));
      assert.deepEqual(names, ['forget-b', 'forget-c']);
    }
    const exact = await api.get(`${configMaps}?${label}&resourceVersion=${version(page)}&resourceVersionMatch=Exact&limit=5`);
    assert.equal(exact.code, 410);
    assert.equal(exact.json['reason'], 'Expired');

    const watch = await api.watch(`${configMaps}?watch=1&${label}&resourceVersion=${version(page)}`);
    assert.equal(watch.code, 200);
    const event = await watch.next();
    assert.equal(event?.type, 'ERROR');
    assert.equal(event.object['kind'], 'Status');
    assert.equal(event.object['code'], 410);
    assert.equal(event.object['reason'], 'Expired');
    assert.match(text(event.object['message']), /^too old resource version: \d+ \(\d+\)$/);
    assert.equal(await watch.next(), undefined);

    const anew = await api.get(`${configMaps}?${label}`);
    assert.deepEqual(anew.json['items'], kept.json['items']);
    const onwards = await api.watch(`${configMaps}?watch=1&${label}&resourceVersion=${version(anew)}`);
    await api.patch(`${configMaps}/forget-c`, { data: { after: '1' } });
    const next = await onwards.next();
    assert.equal(next?.type, 'MODIFIED');
    assert.equal(next.object['data']?.['after'], '1');
    onwards.close();
  });
}
