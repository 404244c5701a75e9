import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function tempDir(t: { after(done: () => Promise<void>): void }): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'dkc-test-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The path of a new file with this text, which is gone after the test. */
export async function tempFile(t: Parameters<typeof tempDir>[0], text: string): Promise<string> {
  const path = join(await tempDir(t), 'file');
  await writeFile(path, text);
  return path;
}
