import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { KubeObject } from '../../../kube/api/object.ts';
import { Storage } from '../../../apiserver/storage/storage.ts';

const steps = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), remove: fc.boolean(), kind: fc.constantFrom('/x', '/y') }), {
  maxLength: 60,
});

function play(storage: Storage, { name, remove, kind }: { name: string; remove: boolean; kind: string }): void {
  if (remove) storage.remove(kind, name);
  else storage.put(kind, name, { metadata: { name }, data: { n: String(storage.version) } });
}

test('a list at any remembered version is the list as it was then', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const storage = new Storage(1000);
      const then: readonly KubeObject[][] = [[], ...all.map(() => [])];
      const versions = [0];
      all.forEach((step, at) => {
        play(storage, step);
        versions.push(storage.version);
        then[at + 1]?.push(...storage.list('/x').objects);
      });
      versions.forEach((version, at) => assert.deepEqual(storage.listAt('/x', version)?.objects, then[at]));
    }),
  );
});

test('a list and the changes after it give the present list, from any version', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const storage = new Storage(1000);
      all.forEach((step) => play(storage, step));
      for (let version = 0; version <= storage.version; version++) {
        const objects = new Map(storage.listAt('/x', version)?.objects.map((object) => [object.metadata.name ?? '', object]));
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

test('what is forgotten is said to be, and the window is kept', () => {
  const storage = new Storage(3);
  for (let n = 0; n < 20; n++) storage.put('/x', 'a', { metadata: { name: 'a' } });
  const log = storage.log('/x');
  assert.equal(log.after(log.forgotten - 1, 10), undefined);
  assert.ok(log.forgotten <= storage.version - 3);
  assert.equal(log.after(storage.version - 3, 10)?.length, 3);
  storage.compact();
  assert.equal(log.after(storage.version - 1, 10), undefined);
  assert.deepEqual(log.after(storage.version, 10), []);
  assert.equal(storage.listAt('/x', storage.version - 1), undefined);
});

test('a stored object is never changed afterwards', () => {
  const storage = new Storage(10);
  const first = storage.put('/x', 'a', { metadata: { name: 'a', labels: { l: '1' } } });
  const copy = structuredClone(first);
  storage.put('/x', 'a', { ...first, metadata: { ...first.metadata, labels: { l: '2' } } });
  storage.remove('/x', 'a');
  assert.deepEqual(first, copy);
});
