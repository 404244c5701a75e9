import { link, open, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ActionError, errorCode } from '../../base/errors.ts';

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
