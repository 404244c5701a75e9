import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '../../../base/random.ts';
import { configMaps } from '../../../kube/api/object.ts';
import type { KubeList } from '../../../kube/api/object.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

const names = (list: KubeList) => list.items.map(({ metadata }) => metadata.name).join(' ');

function world() {
  const clock = new FakeClock();
  const api = localApi(clock);
  const client = localClient(api, { clock });
  const make = (...made: string[]) => {
    for (const name of made) {
      const [namespace = '', own = ''] = name.includes('/') ? name.split('/') : ['default', name];
      api.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: own, namespace } });
    }
    return String(api.hooks.storage.version);
  };
  const remove = (name: string) => client.delete(configMaps, { name, namespace: 'default' });
  return { api, client, make, remove };
}

describe('a list', () => {
  test('that cannot be continued says how it can be, with what is there now', async () => {
    const { api, client, make, remove } = world();
    make('a', 'c', 'e');
    const first = await client.list(configMaps, { limit: 2 });
    make('b', 'd', 'f');
    await remove('e');
    api.hooks.compact();
    make('g');
    const path = '/api/v1/configmaps?limit=2&continue=';
    const connection = await api.dial();
    const answer = await connection.send({
      method: 'GET',
      path: `${path}${first.metadata.continue}`,
      headers: { authorization: `Bearer ${api.token}` },
      signal: new AbortController().signal,
    });
    const parts: Uint8Array[] = [];
    for await (const part of answer.body) parts.push(part);
    const { code, message, metadata } = JSON.parse(Buffer.concat(parts).toString());
    assert.equal(code, 410);
    assert.match(message, /or use the continue token in this response to retrieve the remainder of the results\./);
    const rest = await client.list(configMaps, { limit: 2, continue: metadata.continue });
    assert.equal(names(rest), 'd f');
    assert.equal(rest.metadata.resourceVersion, String(api.hooks.storage.version));
    assert.equal(names(await client.list(configMaps, { limit: 2, continue: rest.metadata.continue ?? '' })), 'g');
  });

  test('of one namespace holds nothing of those whose names begin alike', async () => {
    const { client, make } = world();
    for (const name of ['team', 'team-a', 'team0', 'tea']) {
      await client.create(
        { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false },
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      );
    }
    make('team/x', 'team-a/y', 'team0/z', 'tea/w', 'team/a');
    assert.equal(names(await client.list(configMaps, { namespace: 'team' })), 'a x');
    assert.equal(names(await client.list(configMaps, { namespace: 'team', limit: 1 })), 'a');
    const full = await client.list(configMaps, { namespace: 'team', limit: 2 });
    assert.equal(full.metadata.continue, undefined, 'a full page is the last one where there is no more');
  });

  test('is in order, however many came and went since the last one', async () => {
    const { api, client, make } = world();
    const random = seededRandom(7);
    const there = new Set<string>();
    for (let round = 0; round < 30; round++) {
      for (let changes = Math.floor(random() * 150); changes > 0; changes--) {
        const name = `n${Math.floor(random() * 300)}`;
        if (!there.has(name)) {
          make(name);
          there.add(name);
        } else {
          api.hooks.storage.remove('/configmaps', `default/${name}`);
          there.delete(name);
        }
      }
      assert.equal(names(await client.list(configMaps)), [...there].sort().join(' '));
    }
  });
});
