import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { BundleFile } from './collector.ts';
import { link, open, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ActionError, errorCode } from '../../base/errors.ts';

/** The files as a tar.gz below one folder, each 0600 and of the same time. @param folder - without slashes */
export async function archiveOf(folder: string, files: readonly Pick<BundleFile, 'path' | 'text'>[], at: Date): Promise<Uint8Array> {
  // Loaded here: nothing else of dkc makes an archive.
  const { pack } = await import('tar-stream');
  const archive = pack();
  const parts: Uint8Array[] = [];
  const done = new Promise<void>((resolve, reject) => {
    archive.on('data', (part) => parts.push(part as Uint8Array));
    archive.on('end', resolve);
    archive.on('error', reject);
  });
  for (const { path, text } of files) archive.entry({ name: `${folder}/${path}`, mode: 0o600, mtime: at }, text);
  archive.finalize();
  await done;
  return promisify(gzip)(Buffer.concat(parts));
}

/**
 * Writes a new file, 0600: there whole or not at all, and never in the place of another one.
 * @param draw - a part of the temporary file's name that nobody can know before
 * @throws {ActionError} where something is at `path` already, or it cannot be written
 */
export async function writeNewFile(path: string, bytes: Uint8Array, draw: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${draw}`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    // A rename would take the place of what is there.
    await link(temporary, path);
  } catch (cause) {
    const isThere = errorCode(cause) === 'EEXIST';
    const hint = isThere ? 'a file with this name exists; move it away or set another name with --output-file' : 'set another file with --output-file'; // prettier-ignore
    throw new ActionError('write', path, { hint, cause });
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}
