import assert from 'node:assert/strict';
import { join } from 'node:path';
import { layout } from '../../../agent/store/layout.ts';
import { StoreError } from '../../../agent/store/store.ts';
import type { Disk } from '../../../base/disk.ts';
import { bytes, payload, source, type Suite } from './store-home.ts';

/** What every store keeps to as far as checkpoints go. */
export function checkpointContract({ initialized }: Suite): void {
  initialized('a checkpoint comes back as it was saved, with our annotations only', async ({ open, setNow }, store) => {
    setNow(Date.UTC(2026, 4, 1));
    await store.save(payload());
    const state = await open().load(source());
    assert.ok(state.at === 'intact');
    const { kubeletConfigKey, ...ref } = source();
    assert.equal(kubeletConfigKey, 'kubelet');
    assert.deepEqual(state.checkpoint.payload, { ...ref, files: payload().files, annotations: { 'dkc.dev/allow': 'maxPods' } });
    assert.equal(state.checkpoint.manifest.savedAt, '2026-05-01T00:00:00.000Z');
    assert.deepEqual(
      state.checkpoint.manifest.files.map(({ key, bytes }) => [key, bytes]),
      [
        ['ca.crt', 2],
        ['kubelet', 10],
      ],
    );
    assert.deepEqual(await store.load(source({ resourceVersion: '42' })), { at: 'missing' });
    assert.deepEqual(await store.verify(), []);
  });

  initialized('an intact checkpoint is left alone, other content replaces it', async ({ setNow }, store) => {
    const savedAt = async () => {
      const state = await store.load(source());
      assert.ok(state.at === 'intact');
      return [state.checkpoint.manifest.savedAt, state.checkpoint.payload.files.size];
    };
    setNow(Date.UTC(2026, 0, 1));
    await store.save(payload());
    setNow(Date.UTC(2026, 0, 2));
    await store.save(payload());
    assert.deepEqual(await savedAt(), ['2026-01-01T00:00:00.000Z', 2]);
    await store.save(payload(source(), { kubelet: 'other' }));
    assert.deepEqual(await savedAt(), ['2026-01-02T00:00:00.000Z', 1]);
  });

  const file = (name: string, content: string) => (disk: Disk, dir: string) => disk.replace(join(dir, name), bytes(content));
  const manifest = (content: string) => file('..manifest.json', content);
  const damages: Record<string, (disk: Disk, dir: string) => Promise<void>> = {
    'a changed file': file('kubelet', 'maxPods: 6'),
    'a shorter file': file('kubelet', 'max'),
    'an emptied file': file('ca.crt', ''),
    'a missing file': (disk, dir) => disk.remove(join(dir, 'ca.crt')),
    'an extra file': file('more', 'x'),
    'a directory in it': (disk, dir) => disk.makeDir(join(dir, 'more')),
    'a directory for a file': (disk, dir) => disk.remove(join(dir, 'ca.crt')).then(() => disk.makeDir(join(dir, 'ca.crt'))),
    'a cut manifest': manifest('{"files": ['),
    'a manifest of the wrong shape': manifest('{"files": {}}'),
    'a manifest that names a path': manifest(manifestNaming('../../../meta/assigned')),
    'an empty manifest': manifest(''),
    'a file for the directory': (disk, dir) => disk.remove(dir).then(() => disk.replace(dir, bytes('x'))),
    'an emptied directory': (disk, dir) => disk.remove(dir).then(() => disk.makeDir(dir)),
  };
  for (const [why, by] of Object.entries(damages)) {
    initialized(`${why} is damage, and saving again mends it`, async ({ disk, root }, store) => {
      await store.save(payload());
      await by(disk, layout(root).checkpoint(source()));
      const state = await store.load(source(), source());
      assert.ok(state.at === 'damaged', state.at);
      assert.ok(state.path.startsWith(layout(root).checkpoints) && state.problem !== '');
      assert.ok((await store.verify()).length > 0);
      await store.save(payload());
      assert.equal((await store.load(source())).at, 'intact');
      assert.deepEqual(await store.verify(), []);
    });
  }

  initialized('a checkpoint of upstream is read, and gets a manifest from whoever names it', async ({ disk, root }, store) => {
    const dir = layout(root).checkpoint(source());
    await disk.replaceDir(await madeParent(disk, dir), payload().files);
    const unnamed = await store.load(source());
    assert.ok(unnamed.at === 'intact');
    assert.equal(await disk.stat(layout(root).manifest(source())), undefined);
    const named = await store.load(source(), source());
    assert.ok(named.at === 'intact');
    assert.equal(named.checkpoint.payload.name, 'web');
    assert.equal((await disk.stat(layout(root).manifest(source())))?.kind, 'file');
    assert.deepEqual(await store.verify(), []);
    // The annotations come with the first download, the files stay as they are.
    await store.save(payload());
    const saved = await store.load(source());
    assert.ok(saved.at === 'intact');
    assert.deepEqual(saved.checkpoint.payload.annotations, { 'dkc.dev/allow': 'maxPods' });
    assert.equal(saved.checkpoint.manifest.savedAt, named.checkpoint.manifest.savedAt);
    await disk.remove(join(dir, 'ca.crt'));
    assert.equal((await store.load(source())).at, 'damaged');
  });

  initialized('hostile names are refused before they are a path', async ({ disk, root }, store) => {
    const before = await disk.list(layout(root).checkpoints);
    const long = 'k'.repeat(256);
    const keys: [string, string][] = [
      ['', 'invalid file key: must not be empty'],
      ['a/b', 'invalid file key "a/b", only base names are allowed'],
      ['../x', 'invalid file key "../x", only base names are allowed'],
      ['.', "invalid file key, may not be '.' or '..'"],
      ['..', "invalid file key, may not be '.' or '..'"],
      [long, `invalid file key "${long}", must be less than 255 characters`],
      ['..manifest.json', 'must not start with'],
      ['nul\0', 'valid config key'],
      ['two\nlines', 'valid config key'],
      ['k'.repeat(1_000_000), 'must be less than 255 characters'],
    ];
    for (const [key, text] of keys) {
      const error: unknown = await store.save(payload(source(), { kubelet: 'x', [key]: 'y' })).catch((caught: unknown) => caught);
      assert.ok(
        error instanceof StoreError && error.message.includes(text) && error.message.length < 1000,
        `${key.slice(0, 20)}: ${String(error)}`,
      );
    }
    for (const name of ['..', '.', 'a/b', '/', 'x'.repeat(256), 'nul\0', 'a b', 'new\nline', 'tmp_1', '.dkc-tmp-1', 'é', '\u{d800}', '']) {
      for (const over of [{ uid: name }, { resourceVersion: name }]) {
        await assert.rejects(store.save(payload(source(over))), StoreError, JSON.stringify(name));
        await assert.rejects(store.removeCheckpoint(source(over)), StoreError);
        assert.equal((await store.load(source(over), source())).at, 'damaged');
      }
    }
    assert.deepEqual(await disk.list(layout(root).checkpoints), before);
    await store.save(payload(source({ uid: 'u'.repeat(255), resourceVersion: 'r'.repeat(255) }), { ['k'.repeat(253)]: 'x' }));
    assert.deepEqual(await store.verify(), []);
  });

  initialized('one of more files than a ConfigMap may have counts as damaged: a boot does not read it', async (_, store) => {
    const files = new Map(Array.from({ length: 501 }, (_, n) => [`key-${n}`, bytes('')]));
    await store.save({ ...payload(), files });
    const state = await store.load(source());
    assert.ok(state.at === 'damaged' && state.problem === 'it has more than 500 files', JSON.stringify(state));
  });

  initialized('the list is newest first, damaged ones among it, and what is removed is gone', async ({ disk, root, setNow }, store) => {
    for (const [day, rv] of [
      ['1', 'a'],
      ['3', 'b'],
      ['2', 'c'],
      ['2', 'd'],
    ] as const) {
      setNow(Date.UTC(2026, 0, Number(day)));
      await store.save(payload(source({ resourceVersion: rv })));
    }
    await disk.remove(join(layout(root).checkpoint(source({ resourceVersion: 'c' })), 'kubelet'));
    assert.deepEqual(
      (await store.list()).map(({ ref, state, manifest }) => [ref.resourceVersion, state, manifest?.files.length]),
      [
        ['b', 'intact', 2],
        ['c', 'damaged', 2],
        ['d', 'intact', 2],
        ['a', 'intact', 2],
      ],
    );
    await store.setRecord('last-known-good', source({ resourceVersion: 'b' }));
    await assert.rejects(store.removeCheckpoint(source({ resourceVersion: 'b' })), /last-known-good names it/);
    for (const rv of ['a', 'c', 'd', 'd']) await store.removeCheckpoint(source({ resourceVersion: rv }));
    assert.deepEqual(
      (await store.list()).map(({ ref }) => ref.resourceVersion),
      ['b'],
    );
    await store.setRecord('last-known-good', null);
    await store.removeCheckpoint(source({ resourceVersion: 'b' }));
    assert.deepEqual(await disk.list(layout(root).checkpoints), []);
  });
}

function manifestNaming(key: string): string {
  return JSON.stringify({ namespace: '', name: '', savedAt: '', annotations: {}, files: [{ key, bytes: 0, sha256: '0'.repeat(64) }] });
}

async function madeParent(disk: Disk, path: string): Promise<string> {
  await disk.makeDir(join(path, '..'));
  return path;
}
