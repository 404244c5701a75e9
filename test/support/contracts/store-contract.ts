import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Source } from '../../../agent/checkpoint/source.ts';
import { layout } from '../../../agent/store/layout.ts';
import { StoreError, type CondemnedRecord, type JournalLine, type TrialRecord } from '../../../agent/store/store.ts';
import { checkpointContract } from './checkpoint-contract.ts';
import { bytes, payload, source, suiteOn, type Home } from './store-home.ts';

const at = '2026-01-01T00:00:00.000Z';
const content = { kubeletConfigKey: 'kubelet', contentSha256: 'c'.repeat(64) };
const trial: TrialRecord = { source: source(), ...content, assignedAt: at, healthyMs: 1500, exits: 1, exitsOffset: 99, bootId: 'b' };
const of = { uid: 'u', resourceVersion: '1', namespace: 'ns', name: 'n' };
const condemned: CondemnedRecord = { ...of, ...content, reason: 'kubelet exits', evidence: ['one', 'two'], by: 'admin', at, retry: '3' };
const journalLine = (n: number): JournalLine => ({ at, event: 'assigned', source: source(), detail: `line ${n}` });

/** What every store keeps to, wherever it lives. */
export function storeContract(homeName: string, home: (t: TestContext) => Promise<Home>): void {
  const it = suiteOn(homeName, home);
  checkpointContract(it);

  it.fresh('initialize makes an empty store once, and leaves what exists', async ({ open, disk, root }, store) => {
    assert.deepEqual(await store.record('assigned'), { at: 'missing' });
    assert.equal(await store.initialize(), true);
    for (const name of ['assigned', 'last-known-good'] as const) assert.deepEqual(await store.record(name), { at: 'known', source: null });
    assert.deepEqual([await store.list(), await store.journal(), await store.condemned(), await store.trial()], [[], [], [], undefined]);
    await store.setRecord('assigned', source());
    assert.equal(await open().initialize(), false);
    assert.deepEqual(await open().record('assigned'), { at: 'known', source: source() });
    await store.save(payload());
    await disk.remove(layout(root).metaDir);
    assert.equal(await store.initialize(), false);
    assert.deepEqual(await open().record('assigned'), { at: 'missing' });
  });

  it('records are upstream’s bytes, none is 0 bytes, and equal ones are not rewritten', async ({ disk, root }, store) => {
    const path = layout(root).meta('assigned');
    const set = () => store.setRecord('assigned', source({ uid: 'uid', resourceVersion: '1', namespace: 'namespace', name: 'name' }));
    await set();
    assert.equal(
      Buffer.from(await disk.read(path)).toString(),
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: SerializedNodeConfigSource\nsource:\n  configMap:\n    kubeletConfigKey: kubelet\n' +
        '    name: name\n    namespace: namespace\n    resourceVersion: "1"\n    uid: uid\n',
    );
    const before = await disk.stat(path);
    await new Promise((resolve) => void setTimeout(resolve, 15)); // an mtime must be able to differ
    await set();
    assert.deepEqual(await disk.stat(path), before);
    await store.setRecord('assigned', null);
    assert.equal((await disk.read(path)).length, 0);
  });

  it('a record that could name no checkpoint is refused', async (_, store) => {
    const refused: [Partial<Source>, RegExp][] = [
      [{ uid: '' }, /failed to write RemoteConfigSource, empty UID is ambiguous$/],
      [{ resourceVersion: '' }, /failed to write RemoteConfigSource, empty ResourceVersion is ambiguous$/],
      [{ uid: '../../etc' }, /only base names/],
      [{ kubeletConfigKey: '../passwd' }, /valid config key|base names|must not start/],
      [{ namespace: '' }, /namespace must be set/],
    ];
    for (const [over, text] of refused)
      await assert.rejects(store.setRecord('assigned', source(over)), (error) => error instanceof StoreError && text.test(error.message));
    assert.deepEqual(await store.record('assigned'), { at: 'known', source: null });
  });

  it('our own records come back as they were written', async ({ open }, store) => {
    const [first, second] = [journalLine(1), { ...journalLine(2), source: null }];
    const two: CondemnedRecord[] = [condemned, { ...condemned, uid: 'v', by: 'agent' }];
    await store.setTrial(trial);
    await store.setCondemned(two);
    for (const line of [first, second]) await store.addToJournal(line);
    assert.deepEqual([await open().trial(), await open().condemned(), await open().journal()], [trial, two, [first, second]]);
    await store.setTrial(undefined);
    assert.equal(await open().trial(), undefined);
  });

  it('the journal keeps its newest thousand lines, and skips what it cannot read', async ({ disk, root, open }, store) => {
    const lines = Array.from({ length: 1098 }, (_, n) => JSON.stringify(journalLine(n))).join('\n');
    await disk.append(layout(root).journal, bytes(`rubbish\n${lines}\n{"cut`));
    await store.addToJournal(journalLine(5000));
    assert.deepEqual([(await store.journal()).at(-1)?.detail, (await store.journal()).length], ['line 5000', 1000]);
    await store.addToJournal(journalLine(5001));
    const text = Buffer.from(await disk.read(layout(root).journal)).toString();
    assert.equal(text.trimEnd().split('\n').length, 1000);
    assert.deepEqual((await open().journal()).slice(-2).map(({ detail }) => detail), ['line 5000', 'line 5001']); // prettier-ignore
    await store.addToJournal({ ...journalLine(1), detail: 'x'.repeat(1_000_000) });
    assert.ok(((await store.journal()).at(-1)?.detail.length ?? 0) <= 4000);
  });

  for (const [why, rubbish] of [
    ['cut', bytes('{"source": ')],
    ['of the wrong shape', bytes('"x"')],
    ['with wrong types', bytes('[{"uid": 5}]')],
    ['not UTF-8', Uint8Array.of(0xff, 0xfe)],
  ] as const)
    it(`records of ours that are ${why} are set aside, told of, and read as none`, async ({ disk, root, damage, setNow }, store) => {
      setNow(Date.UTC(2026, 0, 31, 23, 59, 59, 123));
      const { trial: trialPath, condemned: condemnedPath, metaDir } = layout(root);
      for (const path of [trialPath, condemnedPath]) await disk.replace(path, rubbish);
      assert.equal((await store.verify()).length, 2);
      assert.deepEqual([await store.trial(), await store.condemned()], [undefined, []]);
      assert.deepEqual([...damage], [trialPath, condemnedPath]);
      const aside = (await disk.list(metaDir)).filter((name) => name.includes('damaged'));
      assert.deepEqual(aside, ['condemned.json', 'trial.json'].map((name) => `${name}.damaged-20260131T235959.123Z`)); // prettier-ignore
      assert.deepEqual(await store.verify(), []);
      await store.setCondemned([condemned]);
      assert.deepEqual(await store.condemned(), [condemned]);
    });

  it('a damaged record is set aside, and only the newest few are kept', async ({ disk, root, setNow }, store) => {
    const { metaDir, checkpoints, ...paths } = layout(root);
    const path = paths.meta('assigned');
    for (let n = 0; n < 8; n++) {
      setNow(Date.UTC(2026, 0, 1 + Math.min(n, 6)));
      await disk.replace(path, bytes(`rubbish ${n}`));
      assert.equal((await store.record('assigned')).at, 'damaged');
      await store.setAside(path);
      assert.deepEqual(await store.record('assigned'), { at: 'missing' });
    }
    await store.setAside(path);
    const aside = (await disk.list(metaDir)).filter((name) => name.startsWith('assigned.damaged-'));
    assert.equal(aside.length, 5);
    assert.equal(Buffer.from(await disk.read(join(metaDir, aside.at(-1) ?? ''))).toString(), 'rubbish 7');
    await assert.rejects(store.setAside(checkpoints), StoreError);
  });

  it('a record that is a directory is damage that can be set aside', async ({ disk, root }, store) => {
    const path = layout(root).meta('assigned');
    await disk.remove(path);
    await disk.makeDir(path);
    const record = await store.record('assigned');
    assert.equal(record.at === 'damaged' && record.problem, `expected regular file at "${path}", but mode is "drwxr-xr-x"`);
    await assert.rejects(store.setRecord('assigned', source()), StoreError);
    await store.setAside(path);
    await store.setRecord('assigned', source());
    assert.deepEqual(await store.record('assigned'), { at: 'known', source: source() });
  });

  it('leftovers are swept, but never inside a checkpoint', async ({ disk, root }, store) => {
    const { metaDir, checkpoints, store: dir } = layout(root);
    await store.save(payload(source(), { kubelet: 'x', tmp_key: 'an admin’s', '.dkc-tmp-key': 'an admin’s too' }));
    const below = join(checkpoints, source().uid);
    const files = [[root, '.dkc-tmp-1-a'], [metaDir, '.dkc-tmp-1-c'], [checkpoints, '.dkc-tmp-1-d'], [below, '.dkc-tmp-1-e']]; // prettier-ignore
    const dirs = [[dir, '.dkc-tmp-1-b'], [metaDir, 'tmp_assigned55'], [checkpoints, 'tmp_x'], [below, 'tmp_417']]; // prettier-ignore
    for (const parts of files) await disk.replace(join(...parts), bytes('x'));
    for (const parts of dirs) await disk.replaceDir(join(...parts), payload().files);
    await disk.replace(join(root, 'tmp_not_ours'), bytes('x'));
    const leftovers = [...files, ...dirs].map((parts) => join(...parts));
    assert.deepEqual((await store.sweep()).toSorted(), leftovers.toSorted());
    assert.deepEqual(await store.sweep(), []);
    assert.equal((await store.load(source())).at, 'intact');
    assert.equal((await disk.stat(join(root, 'tmp_not_ours')))?.kind, 'file');
  });

  it('changes by several at once lose nothing, and one that fails releases the store', async ({ open }, store) => {
    const stores = [store, open(), store];
    const change = (n: number) => {
      const held = stores[n % 3] ?? store;
      return held.locked(async () => {
        await held.setCondemned([...(await held.condemned()), { ...condemned, uid: `u${n}` }]);
        await held.locked(() => held.addToJournal(journalLine(n)));
      });
    };
    await Promise.all(Array.from({ length: 12 }, (_, n) => change(n)));
    assert.equal(new Set((await store.condemned()).map(({ uid }) => uid)).size, 12);
    assert.equal((await store.journal()).length, 12);
    await assert.rejects(store.locked(() => Promise.reject(new Error('mine'))), /mine/); // prettier-ignore
    await store.setRecord('assigned', source());
  });

  it.fresh('a directory that is something else is named with its mode', async ({ disk, root }, store) => {
    const { store: path } = layout(root);
    await disk.makeDir(root);
    await disk.replace(path, bytes('x'), 0o644);
    const says = /expected dir at ".*\/store", but mode is "-rw-r--r--"/;
    await assert.rejects(store.initialize(), (error) => error instanceof StoreError && error.path === path && says.test(error.message));
    assert.equal((await store.record('assigned')).at, 'missing');
  });

  it('verify tells what is missing, what is no part of a store, and what is something else', async ({ disk, root }, store) => {
    const { journal, checkpoints, ...paths } = layout(root);
    const file = join(checkpoints, 'file');
    await store.setRecord('assigned', source());
    await disk.replace(file, bytes('x'));
    assert.deepEqual((await store.verify()).map(({ path }) => path), [paths.meta('assigned'), file]); // prettier-ignore
    await store.setRecord('assigned', null);
    await disk.makeDir(journal);
    await disk.remove(checkpoints);
    await disk.replace(checkpoints, bytes('x'));
    const isDirectory = { path: journal, problem: `expected regular file at "${journal}", but mode is "drwxr-xr-x"` };
    assert.deepEqual(await store.verify(), [isDirectory, { path: checkpoints, problem: 'it is not a directory' }]);
  });
}
