import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { RealPartsUnavailable } from '../../support/real-parts/real-kubelet.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { tempDir } from '../../support/temp-dir.ts';

const program = '#!/bin/sh\necho Kubernetes v1.99.4+vendor\n';
const xz = ((): string | false => {
  try {
    execFileSync('xz', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'there is no xz here';
  }
})();

describe('programs of a release in a folder', () => {
  test('are used as they are', async (t) => {
    const dir = await tempDir(t);
    writeFileSync(join(dir, 'kubelet'), program);
    chmodSync(join(dir, 'kubelet'), 0o755);
    const release = await givenRelease(dir);
    assert.deepEqual([release.version, release.minor], ['1.99.4', 99]);
    assert.deepEqual(await release.programs(['kubelet']), { kubelet: join(dir, 'kubelet') });
  });

  test('are unpacked once, by what they hold', { skip: process.env['CI'] !== 'true' && xz }, async (t) => {
    const [dir, cache] = [await tempDir(t), await tempDir(t)];
    writeFileSync(join(dir, 'kube-apiserver'), program);
    execFileSync('xz', ['kube-apiserver'], { cwd: dir });
    const packed = readFileSync(join(dir, 'kube-apiserver.xz'));
    const sum = createHash('sha256').update(packed).digest('hex');
    writeFileSync(join(dir, 'SHA256SUMS'), `${'0'.repeat(64)}  etcd.xz\n${sum}  kube-apiserver.xz\n`);
    const [first, second] = await Promise.all([givenRelease(dir, cache), givenRelease(dir, cache)]);
    assert.equal(first.version, '1.99.4');
    const { 'kube-apiserver': path } = await first.programs(['kube-apiserver']);
    assert.deepEqual(await second.programs(['kube-apiserver']), { 'kube-apiserver': path });
    assert.ok(path.startsWith(cache), path);
    assert.equal(readFileSync(path, 'utf8'), program);

    writeFileSync(join(dir, 'SHA256SUMS'), `${'0'.repeat(64)}  kube-apiserver.xz\n`);
    await assert.rejects(givenRelease(dir, cache), /kube-apiserver\.xz has the SHA-256 .* and SHA256SUMS says 000/);
  });

  for (const { why, directory } of [
    { why: 'the variable is not set', directory: '' },
    { why: 'the folder holds none', directory: import.meta.dirname },
  ]) {
    test(`are missed with the reason where ${why}`, async () => {
      const release = await givenRelease(directory);
      assert.equal(release.minor, Infinity);
      await assert.rejects(
        release.programs(['kubelet']),
        (error) => error instanceof RealPartsUnavailable && /DKC_REAL_KUBERNETES/.test(error.message),
      );
    });
  }
});
