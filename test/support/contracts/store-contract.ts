import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Source } from '../../../agent/checkpoint/source.ts';
import { layout } from '../../../agent/store/layout.ts';
import { StoreError, type CondemnedRecord, type JournalLine, type TrialRecord } from '../../../agent/store/store.ts';
import { checkpointContract } from './checkpoint-contract.ts';
import { bytes, payload, source, suiteOn, type Home } from './store-home.ts';

const trial: TrialRecord = {
  source: source(),
  kubeletConfigKey: 'kubelet',
  contentSha256: 'c'.repeat(64),
  assignedAt: '2026-01-01T00:00:00.000Z',
  healthyMs: 1500,
  exits: 1,
  exitsOffset: 99,
  bootId: 'b',
};
const condemned: CondemnedRecord = {
  uid: 'u',
  resourceVersion: '1',
  namespace: 'ns',
  name: 'n',
  kubeletConfigKey: 'kubelet',
  contentSha256: 'c'.repeat(64),
  reason: 'kubelet exits',
  evidence: ['one', 'two'],
  by: 'admin',
  at: '2026-01-01T00:00:00.000Z',
  retry: '3',
};
const journalLine = (n: number): JournalLine => ({
  at: '2026-01-01T00:00:00.000Z',
  event: 'assigned',
  source: source(),
  detail: `line ${n}`,
});

/** What every store keeps to, wherever it lives. */
export function storeContract(homeName: string, home: (t: TestContext) => Promise<Home>): void {
  const suite = suiteOn(homeName, home);
  const { it, initialized } = suite;
  checkpointContract(suite);

  it('initialize makes an empty store once, and leaves what exists', async ({ open }, store) => {
    assert.deepEqual(await store.record('assigned'), { at: 'missing' });
    assert.equal(await store.initialize(), true);
    assert.deepEqual(await store.record('assigned'), { at: 'known', source: null });
    assert.deepEqual(await store.record('last-known-good'), { at: 'known', source: null });
    await store.setRecord('assigned', source());
    assert.equal(await open().initialize(), false);
    assert.deepEqual(await open().record('assigned'), { at: 'known', source: source() });
    assert.deepEqual([await store.list(), await store.journal(), await store.condemned(), await store.trial()], [[], [], [], undefined]);
  });

  initialized('a missing assigned stays missing in a store that exists', async ({ open, disk, root }, store) => {
    await disk.remove(layout(root).meta('assigned'));
    assert.equal(await store.initialize(), false);
    assert.deepEqual(await open().record('assigned'), { at: 'missing' });
    await disk.remove(layout(root).metaDir);
    await store.save(payload());
    assert.equal(await store.initialize(), false);
    assert.deepEqual(await open().record('assigned'), { at: 'missing' });
  });

  initialized('records are upstream’s bytes, and none is 0 bytes', async ({ disk, root }, store) => {
    await store.setRecord('assigned', source({ uid: 'uid', resourceVersion: '1', namespace: 'namespace', name: 'name' }));
    const text = Buffer.from(await disk.read(layout(root).meta('assigned'))).toString();
    assert.equal(
      text,
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: SerializedNodeConfigSource\nsource:\n  configMap:\n    kubeletConfigKey: kubelet\n' +
        '    name: name\n    namespace: namespace\n    resourceVersion: "1"\n    uid: uid\n',
    );
    await store.setRecord('assigned', null);
    assert.equal((await disk.read(layout(root).meta('assigned'))).length, 0);
  });

  initialized('equal records are not rewritten', async ({ disk, root }, store) => {
    await store.setRecord('assigned', source());
    const before = await disk.stat(layout(root).meta('assigned'));
    await new Promise((resolve) => void setTimeout(resolve, 15)); // an mtime must be able to differ
    await store.setRecord('assigned', source());
    assert.deepEqual(await disk.stat(layout(root).meta('assigned')), before);
  });

  initialized('a record that could name no checkpoint is refused', async (_, store) => {
    const refused: [Partial<Source>, RegExp][] = [
      [{ uid: '' }, /failed to write RemoteConfigSource, empty UID is ambiguous$/],
      [{ resourceVersion: '' }, /failed to write RemoteConfigSource, empty ResourceVersion is ambiguous$/],
      [{ uid: '../../etc' }, /only base names/],
      [{ kubeletConfigKey: '../passwd' }, /valid config key|base names|must not start/],
      [{ namespace: '' }, /namespace must be set/],
    ];
    for (const [over, text] of refused) {
      await assert.rejects(store.setRecord('assigned', source(over)), (error) => error instanceof StoreError && text.test(error.message));
    }
    assert.deepEqual(await store.record('assigned'), { at: 'known', source: null });
  });

  initialized('our own records come back as they were written', async ({ open }, store) => {
    await store.setTrial(trial);
    await store.setCondemned([condemned, { ...condemned, uid: 'v', by: 'agent' }]);
    await store.addToJournal(journalLine(1));
    await store.addToJournal({ ...journalLine(2), source: null });
    assert.deepEqual(await open().trial(), trial);
    assert.deepEqual(await open().condemned(), [condemned, { ...condemned, uid: 'v', by: 'agent' }]);
    assert.deepEqual(await open().journal(), [journalLine(1), { ...journalLine(2), source: null }]);
    await store.setTrial(undefined);
    await store.setTrial(undefined);
    assert.equal(await open().trial(), undefined);
  });

  initialized('the journal keeps its newest thousand lines, and skips what it cannot read', async ({ disk, root, open }, store) => {
    await disk.append(
      layout(root).journal,
      bytes(`rubbish\n${Array.from({ length: 1098 }, (_, n) => JSON.stringify(journalLine(n))).join('\n')}\n{"cut`),
    );
    await store.addToJournal(journalLine(5000));
    assert.equal((await store.journal()).at(-1)?.detail, 'line 5000');
    assert.equal((await store.journal()).length, 1000);
    await store.addToJournal(journalLine(5001));
    const text = Buffer.from(await disk.read(layout(root).journal)).toString();
    assert.equal(text.trimEnd().split('\n').length, 1000);
    assert.deepEqual(
      (await open().journal()).slice(-2).map(({ detail }) => detail),
      ['line 5000', 'line 5001'],
    );
    await store.addToJournal({ ...journalLine(1), detail: 'x'.repeat(1_000_000) });
    assert.ok(((await store.journal()).at(-1)?.detail.length ?? 0) <= 4000);
  });

  for (const [why, rubbish] of [
    ['cut', '{"source": '],
    ['of the wrong shape', '"x"'],
    ['with wrong types', '[{"uid": 5}]'],
    ['not UTF-8', '\u0000'],
  ] as const) {
    initialized(
      `records of ours that are ${why} are set aside, told of, and read as none`,
      async ({ disk, root, damage, setNow }, store) => {
        setNow(Date.UTC(2026, 0, 31, 23, 59, 59, 123));
        const { trial: trialPath, condemned: condemnedPath, metaDir } = layout(root);
        await disk.replace(trialPath, why === 'not UTF-8' ? Uint8Array.of(0xff, 0xfe) : bytes(rubbish));
        await disk.replace(condemnedPath, bytes(rubbish));
        assert.ok((await store.verify()).length === 2);
        assert.deepEqual([await store.trial(), await store.condemned()], [undefined, []]);
        assert.deepEqual([...damage], [trialPath, condemnedPath]);
        assert.deepEqual(
          (await disk.list(metaDir)).filter((name) => name.includes('damaged')),
          ['condemned.json.damaged-20260131T235959.123Z', 'trial.json.damaged-20260131T235959.123Z'],
        );
        assert.deepEqual(await store.verify(), []);
        await store.setCondemned([condemned]);
        assert.deepEqual(await store.condemned(), [condemned]);
      },
    );
  }

  initialized('a damaged record is set aside, and only the newest few are kept', async ({ disk, root, setNow }, store) => {
    const path = layout(root).meta('assigned');
    for (let n = 0; n < 8; n++) {
      setNow(Date.UTC(2026, 0, 1 + Math.min(n, 6)));
      await disk.replace(path, bytes(`rubbish ${n}`));
      assert.equal((await store.record('assigned')).at, 'damaged');
      await store.setAside(path);
      assert.deepEqual(await store.record('assigned'), { at: 'missing' });
    }
    await store.setAside(path);
    const aside = (await disk.list(layout(root).metaDir)).filter((name) => name.startsWith('assigned.damaged-'));
    assert.equal(aside.length, 5);
    assert.equal(Buffer.from(await disk.read(join(layout(root).metaDir, aside.at(-1) ?? ''))).toString(), 'rubbish 7');
    await assert.rejects(store.setAside(layout(root).checkpoints), StoreError);
  });

  initialized('leftovers are swept, but never inside a checkpoint', async ({ disk, root }, store) => {
    const { metaDir, checkpoints, store: dir } = layout(root);
    const inside = { kubelet: 'x', tmp_key: 'an admin’s', '.dkc-tmp-key': 'an admin’s too' };
    await store.save(payload(source(), inside));
    const leftovers = [
      join(root, '.dkc-tmp-1-a'),
      join(dir, '.dkc-tmp-1-b'),
      join(metaDir, '.dkc-tmp-1-c'),
      join(metaDir, 'tmp_assigned55'),
      join(checkpoints, '.dkc-tmp-1-d'),
      join(checkpoints, 'tmp_x'),
      join(checkpoints, source().uid, '.dkc-tmp-1-e'),
      join(checkpoints, source().uid, 'tmp_417'),
    ];
    for (const [i, path] of leftovers.entries()) {
      if (i % 2) await disk.replaceDir(path, payload().files);
      else await disk.replace(path, bytes('x'));
    }
    await disk.replace(join(root, 'tmp_not_ours'), bytes('x'));
    assert.deepEqual((await store.sweep()).toSorted(), leftovers.toSorted());
    assert.deepEqual(await store.sweep(), []);
    assert.equal((await store.load(source())).at, 'intact');
    assert.equal((await disk.stat(join(root, 'tmp_not_ours')))?.kind, 'file');
  });

  initialized('changes by several at once lose nothing', async ({ open }, store) => {
    const stores = [store, open(), store];
    await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (stores[n % 3] ?? store).locked(async (held) => {
          const before = await held.condemned();
          await held.setCondemned([...before, { ...condemned, uid: `u${n}` }]);
          await held.locked((again) => again.addToJournal(journalLine(n)));
        }),
      ),
    );
    assert.equal(new Set((await store.condemned()).map(({ uid }) => uid)).size, 12);
    assert.equal((await store.journal()).length, 12);
  });

  initialized('a change that fails releases the store', async (_, store) => {
    await assert.rejects(
      store.locked(async () => {
        throw new Error('mine');
      }),
      /mine/,
    );
    await store.setRecord('assigned', source());
  });

  it('a directory that is something else is named with its mode', async ({ disk, root }, store) => {
    await disk.makeDir(root);
    await disk.replace(layout(root).store, bytes('x'), 0o644);
    const { store: path } = layout(root);
    await assert.rejects(store.initialize(), (error) => {
      assert.ok(error instanceof StoreError && error.path === path);
      assert.match(error.message, /expected dir at ".*\/store", but mode is "-rw-r--r--"/);
      return true;
    });
    assert.equal((await store.record('assigned')).at, 'missing');
  });

  initialized('a record that is a directory is damage that can be set aside', async ({ disk, root }, store) => {
    const path = layout(root).meta('assigned');
    await disk.remove(path);
    await disk.makeDir(path);
    const record = await store.record('assigned');
    assert.ok(record.at === 'damaged');
    assert.equal(record.problem, `expected regular file at "${path}", but mode is "drwxr-xr-x"`);
    await assert.rejects(store.setRecord('assigned', source()), StoreError);
    await store.setAside(path);
    await store.setRecord('assigned', source());
    assert.deepEqual(await store.record('assigned'), { at: 'known', source: source() });
  });

  initialized('verify tells what is missing and what is no part of a store', async ({ disk, root }, store) => {
    await store.setRecord('assigned', source());
    await disk.replace(join(layout(root).checkpoints, 'file'), bytes('x'));
    const found = await store.verify();
    assert.deepEqual(
      found.map(({ path }) => path),
      [layout(root).meta('assigned'), join(layout(root).checkpoints, 'file')],
    );
  });

  initialized('verify tells of a journal and of checkpoints that something else is in the place of', async ({ disk, root }, store) => {
    const { journal, checkpoints } = layout(root);
    await disk.makeDir(journal);
    await disk.remove(checkpoints);
    await disk.replace(checkpoints, bytes('x'));
    assert.deepEqual(await store.verify(), [
      { path: journal, problem: `expected regular file at "${journal}", but mode is "drwxr-xr-x"` },
      { path: checkpoints, problem: 'it is not a directory' },
    ]);
  });
}
