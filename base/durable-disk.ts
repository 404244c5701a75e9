import { basename, dirname, join } from 'node:path';
import type { Disk, RawFile, RawFs, Stat } from './disk.ts';
import { errorCode } from './errors.ts';

/** Prefix of every temporary entry of the durable disk, and of nothing else: it identifies the leftovers of a crash. */
export const tempPrefix = '.dkc-tmp-';

export const defaultReadLimit = 8 * 1024 * 1024;

/**
 * A {@link Disk} made of primitive operations. Its guarantees after a power cut depend on their order alone: data is synced before a rename shows it, a
 * directory is synced after every change of its entries.
 * @param tempName - a name that was never used before; must start with {@link tempPrefix}
 */
export function durableDisk(raw: RawFs, tempName: () => string): Disk {
  const tempBeside = (path: string) => join(dirname(path), tempName());

  async function syncDir(path: string): Promise<void> {
    await using dir = closing(await raw.open(path, 'dir'));
    try {
      await dir.file.sync();
    } catch (error) {
      // Some network file systems cannot sync a directory at all, and fail with these codes; all others can and must.
      if (!isOneOf(error, 'EINVAL', 'ENOTSUP')) throw error;
    }
  }

  async function writeNew(path: string, bytes: Uint8Array, mode: number): Promise<void> {
    await using made = closing(await raw.open(path, 'create', mode));
    await writeAll(made.file, bytes);
    await made.file.sync();
    const { bytes: size } = await made.file.stat();
    if (size !== bytes.length) throw systemError('EIO', `wrote ${bytes.length} bytes, the file holds ${size}`, path);
  }

  async function removeTree(path: string): Promise<void> {
    const found = await raw.stat(path);
    if (!found) return;
    if (found.kind !== 'dir') return raw.unlink(path);
    for (const name of await raw.list(path)) await removeTree(join(path, name));
    await raw.rmdir(path);
  }

  /** For clean-up after an error: that error is reported, and the sweep removes what remains. */
  const tryRemoveTree = (path: string) => removeTree(path).catch(() => undefined);

  /** The process that removed the entry may have died before the removal was on disk. */
  async function settleAbsence(path: string): Promise<void> {
    const parent = dirname(path);
    if (parent !== path && !(await raw.stat(parent))) await settleAbsence(parent);
    else await syncDir(parent);
  }

  async function remove(path: string): Promise<void> {
    const found = await raw.stat(path);
    if (!found) return settleAbsence(path);
    if (found.kind === 'dir' && !basename(path).startsWith(tempPrefix)) {
      // Removing a tree takes many operations. Under its own name, a crash between them would leave half of the tree.
      const aside = tempBeside(path);
      await raw.rename(path, aside);
      await syncDir(dirname(path));
      await removeTree(aside);
    } else {
      await removeTree(path);
    }
    await syncDir(dirname(path));
  }

  async function makeDir(path: string, mode = 0o755): Promise<void> {
    const found = await raw.stat(path);
    if (found && found.kind !== 'dir') throw systemError('ENOTDIR', 'not a directory', path);
    if (!found) {
      if (dirname(path) !== path && !(await raw.stat(dirname(path)))) await makeDir(dirname(path), mode);
      try {
        await raw.mkdir(path, mode);
      } catch (error) {
        if (!isOneOf(error, 'EEXIST')) throw error; // another process was faster
      }
    }
    try {
      // Also for an existing directory: the process that created it may have died before its entry was on disk.
      await syncDir(dirname(path));
    } catch (error) {
      if (!found || !isOneOf(error, 'EACCES', 'EPERM')) throw error;
    }
  }

  const reader =
    (how: 'read' | 'read-linked') =>
    async (path: string, limit = defaultReadLimit): Promise<Uint8Array> => {
      await using open = closing(await raw.open(path, how));
      const found = await regular(open.file, path);
      return await readAll(open.file, found.bytes, limit, path);
    };

  return {
    read: reader('read'),
    readLinked: reader('read-linked'),
    readEnd: async (path, limit) => {
      await using open = closing(await raw.open(path, 'read'));
      const found = await regular(open.file, path);
      const left = Math.min(found.bytes, limit);
      if (found.bytes > limit) open.file.seek(found.bytes - limit);
      const bytes = new Uint8Array(left);
      let got = 0;
      while (got < left) {
        const more = await open.file.read(bytes.subarray(got));
        if (more === 0) break;
        got += more;
      }
      return bytes.subarray(0, got);
    },
    stat: (path) => raw.stat(path),
    realPath: (path) => raw.realPath(path),
    capacity: (path) => raw.capacity(path),
    list: async (path) => (await raw.list(path)).toSorted(),
    makeDir,
    replace: async (path, bytes, mode = 0o600) => {
      const temp = tempBeside(path);
      try {
        await writeNew(temp, bytes, mode);
        await raw.rename(temp, path);
      } catch (error) {
        await tryRemoveTree(temp);
        throw error;
      }
      await syncDir(dirname(path));
    },
    replaceDir: async (path, files, mode = 0o700) => {
      const [temp, aside] = [tempBeside(path), tempBeside(path)];
      let moved = false;
      try {
        await raw.mkdir(temp, mode);
        for (const [name, bytes] of files) await writeNew(join(temp, name), bytes, 0o600);
        await syncDir(temp);
        if (await raw.stat(path)) {
          await raw.rename(path, aside);
          moved = true;
        }
        await raw.rename(temp, path);
      } catch (error) {
        if (moved) await raw.rename(aside, path).catch(() => undefined);
        await tryRemoveTree(temp);
        throw error;
      }
      await syncDir(dirname(path));
      if (moved) await remove(aside);
    },
    append: async (path, bytes, mode = 0o600) => {
      await using open = closing(await raw.open(path, 'append', mode));
      if ((await open.file.stat()).kind !== 'file') throw systemError('EINVAL', 'not a regular file', path);
      await writeAll(open.file, bytes);
      await open.file.sync();
      await syncDir(dirname(path)); // the file may be new, or its maker died before this
    },
    rename: async (from, to) => {
      await raw.rename(from, to);
      await syncDir(dirname(to));
      if (dirname(from) !== dirname(to)) await syncDir(dirname(from));
    },
    remove,
    settle: async (path) => {
      const settleBelow = async (at: string): Promise<void> => {
        const found = await raw.stat(at);
        if (found?.kind === 'dir') {
          for (const name of await raw.list(at)) await settleBelow(join(at, name));
          await syncDir(at);
        } else if (found?.kind === 'file') {
          await using open = closing(await raw.open(at, 'read'));
          await open.file.sync();
        }
      };
      await settleBelow(path);
      await syncDir(dirname(path));
    },
  };
}

async function regular(file: RawFile, path: string): Promise<Stat> {
  const found = await file.stat();
  if (found.kind === 'dir') throw systemError('EISDIR', 'is a directory', path);
  if (found.kind === 'other') throw systemError('EINVAL', 'not a regular file', path);
  return found;
}

async function writeAll(file: RawFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const wrote = await file.write(bytes.subarray(done));
    if (wrote <= 0) throw systemError('EIO', 'the disk accepted no more bytes');
    done += wrote;
  }
}

/** Never reads more than `limit`, even if the file grows during the read. */
async function readAll(file: RawFile, expected: number, limit: number, path: string): Promise<Uint8Array> {
  const tooLarge = () => new RangeError(`${path} is larger than ${limit} bytes`);
  if (expected > limit) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let total = 0;
  // Files of /proc have size 0, and a kernel setting returns all of its content to the first read.
  const least = expected === 0 ? 4096 : 1;
  for (;;) {
    const chunk = new Uint8Array(Math.min(limit + 1, Math.max(expected - total + 1, least)));
    const got = await file.read(chunk);
    if (got === 0) break;
    chunks.push(chunk.subarray(0, got));
    total += got;
    if (total > limit) throw tooLarge();
  }
  const [only] = chunks;
  return only && chunks.length === 1 ? only : new Uint8Array(Buffer.concat(chunks));
}

/** Closes at the end of the scope. A close that fails after the sync loses nothing. */
function closing(file: RawFile): AsyncDisposable & { file: RawFile } {
  return { file, [Symbol.asyncDispose]: () => file.close().catch(() => undefined) };
}

function isOneOf(error: unknown, ...codes: string[]): boolean {
  return codes.includes(errorCode(error) ?? '');
}

export function systemError(code: string, text: string, path?: string): Error {
  return Object.assign(new Error(`${code}: ${text}${path === undefined ? '' : `, ${path}`}`), { code, path });
}
