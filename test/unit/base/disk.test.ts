import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { durableDisk, tempPrefix } from '../../../base/durable-disk.ts';
import { errorCode } from '../../../base/errors.ts';
import { nodeFs, type RawFs, realDisk, scanningDisk, startingDisk } from '../../../base/disk.ts';
import { MemoryDisk } from '../../../cli/demo/fleet/memory-disk.ts';
import { diskContract } from '../../support/contracts/disk-contract.ts';
import { CrashDisk } from '../../support/crash-disk.ts';
import { tempDir } from '../../support/temp-dir.ts';

diskContract('of this machine', async (t) => ({ disk: realDisk, root: await tempDir(t) }));
diskContract('of this machine, of a process that starts', async (t) => ({ disk: startingDisk().disk, root: await tempDir(t) }));
diskContract('of this machine, for a scan', async (t) => ({ disk: scanningDisk(), root: await tempDir(t) }));
for (const [name, disk] of Object.entries({ 'in memory': () => new CrashDisk().disk(), 'of a light node': () => new MemoryDisk(() => 1) }))
  diskContract(name, async () => {
    const made = disk();
    await made.makeDir('/root');
    return { disk: made, root: '/root' };
  });

test('what scans a store for long lets timers run', async (t) => {
  const [path, disk] = [join(await tempDir(t), 'f'), scanningDisk()];
  writeFileSync(path, 'x');
  const over = AbortSignal.timeout(1);
  for (const from = performance.now(); !over.aborted && performance.now() - from < 10_000;) await disk.read(path);
  assert.ok(over.aborted);
});

for (const [which, ownDisk] of Object.entries({ running: realDisk, starting: startingDisk().disk, scanning: scanningDisk() }))
  test(`links, fifos and devices are never followed, read or waited for by a ${which} process`, async (t) => {
    const dir = await tempDir(t);
    writeFileSync(join(dir, 'secret'), 'secret');
    symlinkSync('secret', join(dir, 'link'));
    symlinkSync(dir, join(dir, 'dirlink'));
    execFileSync('mkfifo', [join(dir, 'fifo')]);
    for (const [name, code] of Object.entries({ link: 'ELOOP', fifo: 'EINVAL' })) {
      assert.equal((await ownDisk.stat(join(dir, name)))?.kind, 'other');
      await assert.rejects(ownDisk.read(join(dir, name)), (error) => errorCode(error) === code);
      await assert.rejects(ownDisk.append(join(dir, name), Uint8Array.of(1)));
    }
    await assert.rejects(ownDisk.read('/dev/zero'), (error) => errorCode(error) === 'EINVAL');
    // Unless the link is an administrator's.
    assert.equal(Buffer.from(await ownDisk.readLinked(join(dir, 'link'))).toString(), 'secret');
    for (const path of [join(dir, 'fifo'), '/dev/zero'])
      await assert.rejects(ownDisk.readLinked(path), (error) => errorCode(error) === 'EINVAL');
    await assert.rejects(ownDisk.makeDir(join(dir, 'dirlink')), (error) => errorCode(error) === 'ENOTDIR');

    await ownDisk.replace(join(dir, 'link'), Uint8Array.of(0x78));
    assert.equal(readFileSync(join(dir, 'secret'), 'utf8'), 'secret');
    await ownDisk.remove(join(dir, 'dirlink'));
    assert.deepEqual(readdirSync(dir).toSorted(), ['fifo', 'link', 'secret']);
  });

type File = Awaited<ReturnType<RawFs['open']>>;
const writing = (write: (file: File, bytes: Uint8Array) => ReturnType<File['write']>): RawFs => ({
  ...nodeFs,
  open: async (path, how, mode) => {
    const file = await nodeFs.open(path, how, mode);
    return { ...file, write: (bytes) => write(file, bytes) };
  },
});

// One byte at a time, then no more: what kernels may do and tests on a healthy disk never see.
function stingy(left: number): RawFs {
  return writing(async (file, bytes) => {
    if (left-- === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    return file.write(bytes.subarray(0, 1));
  });
}

test('short writes are gone on with, and one that ends in a full disk leaves the old file', async (t) => {
  const path = join(await tempDir(t), 'f');
  const disk = durableDisk(stingy(8), () => `${tempPrefix}x`);
  await disk.replace(path, new TextEncoder().encode('old'));
  await assert.rejects(disk.replace(path, new TextEncoder().encode('longer')), (error) => errorCode(error) === 'ENOSPC');
  assert.equal(readFileSync(path, 'utf8'), 'old');
  assert.deepEqual(readdirSync(join(path, '..')), ['f']);
});

test('a file that is not as long as what was written is not put in place', async (t) => {
  const path = join(await tempDir(t), 'f');
  const liar = writing(async (file, bytes) => (await file.write(bytes.subarray(1)), bytes.length));
  const disk = durableDisk(liar, () => `${tempPrefix}x`);
  await assert.rejects(disk.replace(path, new TextEncoder().encode('text')), (error) => errorCode(error) === 'EIO');
  assert.deepEqual(readdirSync(join(path, '..')), []);
});

test('a file of the kernel is read whole, and one that never ends is cut off at the limit', async () => {
  const path = '/proc/sys/kernel/pid_max';
  assert.equal(new TextDecoder().decode(await realDisk.read(path)), readFileSync(path, 'utf8'));
  await assert.rejects(realDisk.read('/proc/kallsyms', 1000), RangeError);
});

test('a process that starts hears how long its disk took to sync, and where', async (t) => {
  const dir = await tempDir(t);
  const { disk, started, syncs } = startingDisk();
  for (const whenStarted of [() => {}, started]) {
    whenStarted();
    assert.equal(syncs.take(), undefined);
    await disk.replace(join(dir, 'f'), Uint8Array.of(1));
    const { path = '', ms = -1 } = syncs.take() ?? {};
    assert.ok(path.startsWith(dir) && ms > 0, `${path} ${ms}`);
    await assert.rejects(disk.replace(join(dir, 'none', 'f'), Uint8Array.of(1)));
    assert.ok(syncs.take(), 'what comes before a sync may hang as well');
  }
});
