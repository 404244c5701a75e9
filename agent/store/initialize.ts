import { join } from 'node:path';
import type { Disk, Stat } from '../../base/disk.ts';
import { type MetaName, onPath, StoreError } from './store.ts';
import type { Layout } from './layout.ts';
import type { Locked } from './store-lock.ts';
import { tempPrefix } from '../../base/durable-disk.ts';

export const metaNames: readonly MetaName[] = ['assigned', 'last-known-good'];

/**
 * Creates what is missing of a store, leaves what exists. A store whose records are there is not written to at all.
 * @returns true where there was no store before
 */
export async function initializeStore(disk: Disk, paths: Layout, locked: Locked): Promise<boolean> {
  const { root, store, checkpoints, metaDir } = paths;
  for (const dir of [root, store, checkpoints, metaDir]) await expectDir(disk, dir);
  if ((await disk.stat(metaDir)) && (await disk.stat(checkpoints))) {
    // The process that wrote these may have died before syncing them, and from here on they count as what was assigned to this node.
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
  const there = await onPath('inspect', path, () => disk.stat(path));
  if (!there || there.kind === 'dir') return;
  const hint = `expected dir at ${JSON.stringify(path)}, but mode is ${modeText(there)}: move it away`;
  throw new StoreError('use', path, { hint });
}

/** A mode as Go prints it: `"drwxr-xr-x"`. Of other kinds than file and directory only the permissions are known. */
function modeText({ kind, mode }: Stat): string {
  const bits = Array.from('rwxrwxrwx', (letter, i) => (mode & (0o400 >> i) ? letter : '-')).join('');
  return JSON.stringify(`${kind === 'dir' ? 'd' : kind === 'file' ? '-' : '?'}${bits}`);
}

/**
 * ConfigMaps whose checkpoints are looked through. Boot sweeps, and the kubelet waits for it; a store has a handful, since garbage collection removes the
 * others. A leftover beyond harms nobody: it is found once there are fewer.
 */
const MAX_SWEPT = 1_000;

/** What upstream's writer leaves behind when it dies. */
const upstreamPrefix = 'tmp_';

/**
 * Removes what a crash left behind: ours wherever we write, upstream's in `meta/`, `checkpoints/` and `checkpoints/UID/` (design Q4).
 * Never inside an RV directory: every name there is an admin's.
 * @returns removed paths
 */
export async function sweepLeftovers(disk: Disk, paths: Layout, locked: Locked): Promise<string[]> {
  if ((await leftovers(disk, paths)).length === 0) return [];
  // Looked for again under the lock: one of a writer at work is not a leftover.
  return locked(async () => {
    const found = await leftovers(disk, paths);
    for (const path of found) await onPath('remove', path, () => disk.remove(path));
    return found;
  });
}

async function leftovers(disk: Disk, paths: Layout): Promise<string[]> {
  const names = (dir: string) => onPath('list', dir, async () => ((await disk.stat(dir))?.kind === 'dir' ? disk.list(dir) : []));
  const ours = (name: string) => name.startsWith(tempPrefix);
  const anyones = (name: string) => ours(name) || name.startsWith(upstreamPrefix);

  const found: string[] = [];
  const look = async (dir: string, isLeftover: (name: string) => boolean): Promise<string[]> => {
    const all = await names(dir);
    found.push(...all.filter(isLeftover).map((name) => join(dir, name)));
    return all.filter((name) => !isLeftover(name));
  };
  await look(paths.root, ours);
  await look(paths.store, ours);
  await look(paths.metaDir, anyones);
  for (const uid of (await look(paths.checkpoints, anyones)).slice(0, MAX_SWEPT)) await look(join(paths.checkpoints, uid), anyones);
  return found;
}
