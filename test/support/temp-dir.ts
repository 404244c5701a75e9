import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty directory that is gone after the test. */
export async function tempDir(t: { after(done: () => Promise<void>): void }): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'dkc-test-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}
