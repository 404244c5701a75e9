import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { BundleFile } from './collector.ts';
import { link, open, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ActionError, errorCode } from '../../base/errors.ts';

/** The files as a tar.gz in one folder, each with mode 0600 and the same time. @param folder - without slashes */
export async function archiveOf(folder: string, files: readonly Pick<BundleFile, 'path' | 'text'>[], at: Date): Promise<Uint8Array> {
  // Loaded on demand, since no other command creates an archive.
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
 * Creates a file atomically, with mode 0600; never replaces an existing file.
 * @param draw - unpredictable part of the temporary file's name
 * @throws {ActionError} if `path` exists, or cannot be written
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
    // A rename would replace an existing file.
    await link(temporary, path);
  } catch (cause) {
    const isThere = errorCode(cause) === 'EEXIST';
    const hint = isThere ? 'a file with this name exists; move it away or set another name with --output-file' : 'set another file with --output-file'; // prettier-ignore
    throw new ActionError('write', path, { hint, cause });
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}
