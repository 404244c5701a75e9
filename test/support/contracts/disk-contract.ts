import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Disk } from '../../../base/disk.ts';
import { errorCode } from '../../../base/errors.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** What every disk keeps to. @param home - a disk, and an existing empty directory on it */
export function diskContract(name: string, home: (t: TestContext) => Promise<{ disk: Disk; root: string }>): void {
  const it = (what: string, check: (disk: Disk, at: (...parts: string[]) => string) => Promise<void>): void => {
    void test(`disk ${name}: ${what}`, async (t) => {
      const { disk, root } = await home(t);
      await check(disk, (...parts) => join(root, ...parts));
    });
  };
  const text = async (disk: Disk, path: string) => Buffer.from(await disk.read(path)).toString();
  const fails = (code: string, act: Promise<unknown>) =>
    assert.rejects(act, (error) => errorCode(error) === code || assert.fail(String(error)));

  it('replaces a file whole, with the mode asked for, and leaves nothing else behind', async (disk, at) => {
    for (const content of ['one', '', 'three'.repeat(100_000)]) {
      await disk.replace(at('f'), bytes(content));
      assert.equal(await text(disk, at('f')), content);
    }
    assert.deepEqual(await disk.list(at()), ['f']);
    assert.equal((await disk.stat(at('f')))?.mode, 0o600);
    await disk.replace(at('f'), bytes('x'), 0o640);
    const { kind, bytes: size, mode } = (await disk.stat(at('f'))) ?? {};
    assert.deepEqual([kind, size, mode], ['file', 1, 0o640]);
  });

  it('leaves the old file and nothing else where a replace fails', async (disk, at) => {
    await disk.makeDir(at('dir', 'full'));
    await fails('EISDIR', disk.replace(at('dir'), bytes('x')));
    await fails('ENOENT', disk.replace(at('none', 'f'), bytes('x')));
    assert.deepEqual(await disk.list(at()), ['dir']);
  });

  it('reads the end of a file, and all of a short one', async (disk, at) => {
    const end = async (limit: number): Promise<string> => Buffer.from(await disk.readEnd(at('f'), limit)).toString();
    await disk.replace(at('f'), bytes('0123456789'));
    assert.deepEqual([await end(3), await end(10), await end(1000)], ['789', '0123456789', '0123456789']);
    await disk.replace(at('f'), bytes(''));
    assert.equal(await end(3), '');
    await fails('ENOENT', disk.readEnd(at('none'), 3));
    await disk.makeDir(at('d'));
    await fails('EISDIR', disk.readEnd(at('d'), 3));
  });

  it('replaces a directory whole', async (disk, at) => {
    const files = (...names: string[]) => new Map(names.map((file) => [file, bytes(file)]));
    await disk.replaceDir(at('d'), files('a', 'b'));
    await disk.replaceDir(at('d'), files('b', 'c'));
    assert.deepEqual(await disk.list(at('d')), ['b', 'c']);
    assert.equal((await disk.stat(at('d')))?.mode, 0o700);
    await disk.replace(at('f'), bytes('x'));
    await disk.replaceDir(at('f'), new Map());
    assert.deepEqual(await disk.list(at('f')), []);
    assert.deepEqual(await disk.list(at()), ['d', 'f']);
    await fails('ENOENT', disk.replaceDir(at('none', 'd'), files('a')));
    await fails('ENOENT', disk.replaceDir(at('e'), files('a/b')));
    assert.deepEqual(await disk.list(at()), ['d', 'f']);
  });

  it('makes directories with their parents, and leaves an existing one alone', async (disk, at) => {
    await disk.makeDir(at('a', 'b', 'c'), 0o700);
    await disk.replace(at('a', 'f'), bytes('x'));
    await disk.makeDir(at('a'), 0o755);
    assert.deepEqual(await disk.list(at('a')), ['b', 'f']);
    assert.equal((await disk.stat(at('a')))?.mode, 0o700);
    await fails('ENOTDIR', disk.makeDir(at('a', 'f')));
    await fails('ENOTDIR', disk.makeDir(at('a', 'f', 'g')));
  });

  it('appends, renames and removes', async (disk, at) => {
    await disk.append(at('log'), bytes('one\n'));
    await disk.append(at('log'), bytes('two\n'));
    await disk.rename(at('log'), at('old'));
    assert.equal(await text(disk, at('old')), 'one\ntwo\n');
    await disk.makeDir(at('d', 'e'));
    await disk.rename(at('old'), at('d', 'e', 'log'));
    assert.deepEqual(await disk.list(at()), ['d']);
    await fails('ENOENT', disk.rename(at('none'), at('x')));
    await disk.settle(at('d'));
    await disk.settle(at('none'));
    await disk.remove(at('d'));
    await disk.remove(at('d'));
    await disk.remove(at('none', 'below'));
    assert.deepEqual(await disk.list(at()), []);
  });

  it('tells apart what is not there, what is another thing, and what is too large', async (disk, at) => {
    await disk.makeDir(at('d'));
    await disk.replace(at('f'), bytes('12345'));
    await fails('ENOENT', disk.read(at('none')));
    await fails('EISDIR', disk.read(at('d')));
    await fails('ENOENT', disk.list(at('none')));
    await fails('ENOTDIR', disk.list(at('f')));
    assert.equal(await disk.stat(at('none')), undefined);
    assert.equal(await disk.stat(at('f', 'below')), undefined);
    await assert.rejects(disk.read(at('f'), 4), RangeError);
    assert.equal((await disk.read(at('f'), 5)).length, 5);
  });
}
