import type { Disk, Stat } from '../../base/disk.ts';
import { onPath } from './failure.ts';
import type { Layout } from './layout.ts';
import type { Locked } from './store-lock.ts';
import { StoreError, type MetaName } from './store.ts';

export const metaNames: readonly MetaName[] = ['assigned', 'last-known-good'];

/**
 * Creates what is missing of a store, leaves what exists. A store whose records are there is not written to at all.
 * @returns true where there was no store before
 */
export async function initializeStore(disk: Disk, paths: Layout, locked: Locked): Promise<boolean> {
  const { root, store, checkpoints, metaDir } = paths;
  for (const dir of [root, store, checkpoints, metaDir]) await expectDir(disk, dir);
  if ((await disk.stat(metaDir)) && (await disk.stat(checkpoints))) {
    // Whoever wrote these may have died before syncing them, and from here on they count as what this node was told.
    await onPath('sync', metaDir, () => disk.settle(metaDir));
    return false;
  }
  await onPath('make', root, () => disk.makeDir(root)); // the lock lies in it
  return locked(async () => {
    for (const dir of [store, checkpoints]) await onPath('make', dir, () => disk.makeDir(dir));
    if (await disk.stat(metaDir)) return false;
    if ((await onPath('list', checkpoints, () => disk.list(checkpoints))).length > 0) {
      // Its meta directory was lost: what is assigned is unknown, not nothing.
      await onPath('make', metaDir, () => disk.makeDir(metaDir));
      return false;
    }
    // Both files or no directory, so that a crash here can never look like a store that lost its records.
    const empty = new Map(metaNames.map((name) => [name, new Uint8Array()]));
    await onPath('make', metaDir, () => disk.replaceDir(metaDir, empty, 0o755));
    return true;
  });
}

/** Upstream's text for a file that is something else, or undefined. */
export function wrongFile(path: string, there: Stat): string | undefined {
  return there.kind === 'file' ? undefined : `expected regular file at ${JSON.stringify(path)}, but mode is ${modeText(there)}`;
}

async function expectDir(disk: Disk, path: string): Promise<void> {
  const there = await onPath('look at', path, () => disk.stat(path));
  if (!there || there.kind === 'dir') return;
  const hint = `expected dir at ${JSON.stringify(path)}, but mode is ${modeText(there)}: move it away`;
  throw new StoreError('use', path, { hint });
}

/** A mode as Go prints it: `"drwxr-xr-x"`. Of other kinds than file and directory only the permissions are known. */
function modeText({ kind, mode }: Stat): string {
  const bits = Array.from('rwxrwxrwx', (letter, i) => (mode & (0o400 >> i) ? letter : '-')).join('');
  return JSON.stringify(`${kind === 'dir' ? 'd' : kind === 'file' ? '-' : '?'}${bits}`);
}
