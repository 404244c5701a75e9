import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import type { Source } from '../../../agent/checkpoint/source.ts';
import { layout } from '../../../agent/store/layout.ts';
import { StoreError, type Store } from '../../../agent/store/store.ts';
import type { Disk } from '../../../base/disk.ts';
import { bytes, payload, source, type Suite } from './store-home.ts';

async function intact(store: Store, named?: Source) {
  const state = await store.load(source(), named);
  assert.ok(state.at === 'intact', JSON.stringify(state));
  return state.checkpoint;
}

/** What every store keeps to as far as checkpoints go. */
export function checkpointContract(it: Suite): void {
  it('a checkpoint comes back as saved, with our annotations only; other content replaces it', async ({ open, setNow }, store) => {
    setNow(Date.UTC(2026, 4, 1));
    await store.save(payload());
    const { payload: loaded, manifest } = await intact(open());
    const { kubeletConfigKey: _key, ...ref } = source();
    assert.deepEqual(loaded, { ...ref, files: payload().files, annotations: { 'dkc.dev/allow': 'maxPods' } });
    assert.equal(manifest.savedAt, '2026-05-01T00:00:00.000Z');
    assert.deepEqual(manifest.files.map(({ key, bytes }) => `${key} ${bytes}`), ['ca.crt 2', 'kubelet 10']); // prettier-ignore
    assert.deepEqual(await store.load(source({ resourceVersion: '42' })), { at: 'missing' });
    setNow(Date.UTC(2026, 4, 2));
    await store.save(payload());
    assert.deepEqual((await intact(store)).manifest, manifest);
    await store.save(payload(source(), { kubelet: 'other' }));
    const { manifest: next, payload: other } = await intact(store);
    assert.deepEqual([next.savedAt, other.files.size], ['2026-05-02T00:00:00.000Z', 1]);
    assert.deepEqual(await store.verify(), []);
  });

  const file = (name: string, content: string) => (disk: Disk, dir: string) => disk.replace(join(dir, name), bytes(content));
  const manifest = (content: string) => file('..manifest.json', content);
  const fields = { namespace: '', name: '', savedAt: '', annotations: {} };
  const named = JSON.stringify({ ...fields, files: [{ key: '../../../meta/assigned', bytes: 0, sha256: '0'.repeat(64) }] });
  const damages: Record<string, (disk: Disk, dir: string) => Promise<void>> = {
    'a changed file': file('kubelet', 'maxPods: 6'),
    'an emptied file': file('ca.crt', ''),
    'a missing file': (disk, dir) => disk.remove(join(dir, 'ca.crt')),
    'an extra file': file('more', 'x'),
    'a directory in it': (disk, dir) => disk.makeDir(join(dir, 'more')),
    'a directory for a file': (disk, dir) => disk.remove(join(dir, 'ca.crt')).then(() => disk.makeDir(join(dir, 'ca.crt'))),
    'a cut manifest': manifest('{"files": ['),
    'a manifest of the wrong shape': manifest('{"files": {}}'),
    'a manifest that names a path': manifest(named),
    'a file for the directory': (disk, dir) => disk.remove(dir).then(() => disk.replace(dir, bytes('x'))),
    'an emptied directory': (disk, dir) => disk.remove(dir).then(() => disk.makeDir(dir)),
  };
  for (const [why, by] of Object.entries(damages))
    it(`${why} is damage, and saving again mends it`, async ({ disk, root }, store) => {
      await store.save(payload());
      await by(disk, layout(root).checkpoint(source()));
      const state = await store.load(source(), source());
      assert.ok(state.at === 'damaged' && state.path.startsWith(layout(root).checkpoints) && state.problem !== '', state.at);
      assert.ok((await store.verify()).length > 0);
      await store.save(payload());
      await intact(store);
      assert.deepEqual(await store.verify(), []);
    });

  it('a checkpoint of upstream is read, and gets a manifest from whoever names it', async ({ disk, root }, store) => {
    const dir = layout(root).checkpoint(source());
    const hasManifest = async () => (await disk.stat(layout(root).manifest(source())))?.kind === 'file';
    await disk.makeDir(dirname(dir));
    await disk.replaceDir(dir, payload().files);
    await intact(store);
    assert.equal(await hasManifest(), false);
    const first = await intact(store, source());
    assert.deepEqual([first.payload.name, await hasManifest()], ['web', true]);
    // The annotations come with the first download, the files stay as they are.
    await store.save(payload());
    const saved = await intact(store);
    assert.deepEqual([saved.payload.annotations, saved.manifest.savedAt], [{ 'dkc.dev/allow': 'maxPods' }, first.manifest.savedAt]);
    await disk.remove(join(dir, 'ca.crt'));
    assert.equal((await store.load(source())).at, 'damaged');
  });

  it('hostile names are refused before they are a path, and too many files are damage', async ({ disk, root }, store) => {
    const before = await disk.list(layout(root).checkpoints);
    const keys: [string, string][] = [
      ['', 'invalid file key: must not be empty'],
      ['../x', 'invalid file key "../x", only base names are allowed'],
      ['..', "invalid file key, may not be '.' or '..'"],
      ['..manifest.json', 'must not start with'],
      ['nul\0', 'valid config key'],
      ['k'.repeat(1_000_000), 'must be less than 255 characters'],
    ];
    for (const [key, text] of keys)
      await assert.rejects(store.save(payload(source(), { kubelet: 'x', [key]: 'y' })), (error: Error) => {
        assert.ok(error instanceof StoreError && error.message.includes(text) && error.message.length < 1000, error.message);
        return true;
      });
    for (const name of ['..', '.', 'a/b', 'x'.repeat(256), 'nul\0', 'a b', 'new\nline', 'tmp_1', '.dkc-tmp-1', 'é', '\u{d800}', ''])
      for (const over of [{ uid: name }, { resourceVersion: name }]) {
        await assert.rejects(store.save(payload(source(over))), StoreError, JSON.stringify(name));
        await assert.rejects(store.removeCheckpoint(source(over)), StoreError);
        assert.equal((await store.load(source(over), source())).at, 'damaged');
      }
    assert.deepEqual(await disk.list(layout(root).checkpoints), before);
    await store.save(payload(source({ uid: 'u'.repeat(255), resourceVersion: 'r'.repeat(255) }), { ['k'.repeat(253)]: 'x' }));
    assert.deepEqual(await store.verify(), []);
    await store.save({ ...payload(), files: new Map(Array.from({ length: 501 }, (_, n) => [`key-${n}`, bytes('')])) });
    const state = await store.load(source());
    assert.ok(state.at === 'damaged' && state.problem === 'it has more than 500 files', JSON.stringify(state));
  });

  it('the list is newest first, damaged ones among it, and what is removed is gone', async ({ disk, root, setNow }, store) => {
    const at = (resourceVersion: string) => source({ resourceVersion });
    for (const [day, rv] of [[1, 'a'], [3, 'b'], [2, 'c'], [2, 'd']] as const) {
      setNow(Date.UTC(2026, 0, day));
      await store.save(payload(at(rv)));
    } // prettier-ignore
    await disk.remove(join(layout(root).checkpoint(at('c')), 'kubelet'));
    const listed = async () => (await store.list()).map(({ ref, state }) => `${ref.resourceVersion} ${state}`).join(', ');
    assert.equal(await listed(), 'b intact, c damaged, d intact, a intact');
    await store.setRecord('last-known-good', at('b'));
    await assert.rejects(store.removeCheckpoint(at('b')), /last-known-good refers to it/);
    for (const rv of ['a', 'c', 'd', 'd']) await store.removeCheckpoint(at(rv));
    assert.equal(await listed(), 'b intact');
    await store.setRecord('last-known-good', null);
    await store.removeCheckpoint(at('b'));
    assert.deepEqual(await disk.list(layout(root).checkpoints), []);
  });
}
