import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { configMaps, namespaces, type KubeList, type KubeObject } from '../../../kube/api/object.ts';
import { Storage } from '../../../apiserver/storage/storage.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { localApi, localClient } from '../../support/embedded-api.ts';

const steps = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), remove: fc.boolean(), kind: fc.constantFrom('/x', '/y') }), {
  maxLength: 60,
});

test('a list at any remembered version is the list as it was then, and the changes after it give the present list', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const storage = new Storage(1000);
      const then: (readonly KubeObject[])[] = [[]];
      for (const { name, remove, kind } of all) {
        if (remove) storage.remove(kind, name);
        else storage.put(kind, name, { metadata: { name }, data: { n: String(storage.version) } });
        then[storage.version] = [...storage.list('/x').objects];
      }
      for (let version = 0; version <= storage.version; version++) {
        const listed = storage.listAt('/x', version)?.objects;
        assert.deepEqual(listed, then[version]);
        const objects = new Map(listed?.map((object) => [object.metadata.name ?? '', object]));
        let last = version;
        for (const change of storage.log('/x').after(version, 1000) ?? []) {
          assert.ok(change.version > last);
          assert.equal(change.object.metadata.resourceVersion, String(change.version));
          last = change.version;
          if (change.type === 'DELETED') objects.delete(change.key);
          else objects.set(change.key, change.object);
        }
        const present = [...objects.values()].sort((left, right) => ((left.metadata.name ?? '') < (right.metadata.name ?? '') ? -1 : 1));
        assert.deepEqual(present, storage.list('/x').objects);
      }
    }),
  );
});

test('what is forgotten is said to be, the window is kept, and a stored object is never changed afterwards', () => {
  const storage = new Storage(3);
  const first = storage.put('/x', 'a', { metadata: { name: 'a', labels: { l: '1' } } });
  const copy = structuredClone(first);
  for (let n = 0; n < 19; n++) storage.put('/x', 'a', { ...first, metadata: { ...first.metadata, labels: { l: '2' } } });
  assert.deepEqual(first, copy);
  const log = storage.log('/x');
  assert.equal(log.after(log.forgotten - 1, 10), undefined);
  assert.ok(log.forgotten <= storage.version - 3);
  assert.equal(log.after(storage.version - 3, 10)?.length, 3);
  storage.compact();
  assert.equal(log.after(storage.version - 1, 10), undefined);
  assert.deepEqual(log.after(storage.version, 10), []);
  assert.equal(storage.listAt('/x', storage.version - 1), undefined);
});

const names = (list: KubeList) => list.items.map(({ metadata }) => metadata.name).join(' ');

function world() {
  const clock = new FakeClock();
  const api = localApi(clock);
  const make = (...made: string[]) => {
    for (const name of made) {
      const [namespace = '', own = ''] = name.includes('/') ? name.split('/') : ['default', name];
      api.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: own, namespace } });
    }
  };
  return { client: localClient(api, { clock }), make };
}

test('a list of one namespace holds nothing of those whose names begin alike, and a full page is the last one where there is no more', async () => {
  const { client, make } = world();
  for (const name of ['team', 'team-a', 'team0', 'tea']) await client.create(namespaces, { metadata: { name } });
  make('team/x', 'team-a/y', 'team0/z', 'tea/w', 'team/a');
  assert.equal(names(await client.list(configMaps, { namespace: 'team' })), 'a x');
  assert.equal(names(await client.list(configMaps, { namespace: 'team', limit: 1 })), 'a');
  assert.equal((await client.list(configMaps, { namespace: 'team', limit: 2 })).metadata.continue, undefined);
});
