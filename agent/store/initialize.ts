import { join } from 'node:path';
import type { Disk, Stat } from '../../base/disk.ts';
import { type MetaName, onPath, StoreError } from './store.ts';
import type { Layout } from './layout.ts';
import type { Locked } from './record-files.ts';
import { tempPrefix } from '../../base/durable-disk.ts';

export const metaNames: readonly MetaName[] = ['assigned', 'last-known-good'];

/**
 * Creates missing directories and records of a store, leaves existing ones. Writes nothing to a store that has its directories.
 * @returns true where no store existed
 */
export async function initializeStore(disk: Disk, paths: Layout, locked: Locked): Promise<boolean> {
  const { root, store, checkpoints, metaDir } = paths;
  for (const dir of [root, store, checkpoints, metaDir]) await expectDir(disk, dir);
  if ((await disk.stat(metaDir)) && (await disk.stat(checkpoints))) {
    // The process that wrote these may have died before syncing them; from here on the agent relies on them.
    await onPath('sync', metaDir, () => disk.settle(metaDir));
    return false;
  }
  await onPath('make', root, () => disk.makeDir(root)); // the lock lies in it
  return locked(async () => {
    for (const dir of [store, checkpoints]) await onPath('make', dir, () => disk.makeDir(dir));
    if (await disk.stat(metaDir)) return false;
    if ((await onPath('list', checkpoints, () => disk.list(checkpoints))).length > 0) {
      // The meta directory was lost: the assignment is unknown, not `none`.
      await onPath('make', metaDir, () => disk.makeDir(metaDir));
      return false;
    }
    // Both files or no directory: a crash here must not look like a store that lost its records.
    const empty = new Map(metaNames.map((name) => [name, new Uint8Array()]));
    await onPath('make', metaDir, () => disk.replaceDir(metaDir, empty, 0o755));
    return true;
  });
}

/** Upstream's error text for a path that is not a regular file; undefined for a regular file. */
export function wrongFile(path: string, there: Stat): string | undefined {
  return there.kind === 'file' ? undefined : `expected regular file at ${JSON.stringify(path)}, but mode is ${modeText(there)}`;
}

async function expectDir(disk: Disk, path: string): Promise<void> {
  const there = await onPath('inspect', path, () => disk.stat(path));
  if (!there || there.kind === 'dir') return;
  const hint = `expected dir at ${JSON.stringify(path)}, but mode is ${modeText(there)}: move it away`;
  throw new StoreError('use', path, { hint });
}

/** A mode as Go prints it: `"drwxr-xr-x"`. `?` stands for any kind other than file and directory. */
function modeText({ kind, mode }: Stat): string {
  const bits = Array.from('rwxrwxrwx', (letter, i) => (mode & (0o400 >> i) ? letter : '-')).join('');
  return JSON.stringify(`${kind === 'dir' ? 'd' : kind === 'file' ? '-' : '?'}${bits}`);
}

/**
 * Most ConfigMaps (UID directories) that one sweep searches: boot sweeps while the kubelet waits. A store has a handful, since garbage collection
 * removes the others. Leftovers beyond the limit do no harm and are removed once there are fewer.
 */
const MAX_SWEPT = 1_000;

/** Prefix of the temporary files that upstream's writer leaves when it dies. */
const upstreamPrefix = 'tmp_';

/**
 * Removes temporary files that a crash left: ours wherever the agent writes, upstream's in `meta/`, `checkpoints/` and `checkpoints/UID/`.
 * Never inside an RV directory: names there are keys of the ConfigMap, chosen by an admin.
 * @returns removed paths
 */
export async function sweepLeftovers(disk: Disk, paths: Layout, locked: Locked): Promise<string[]> {
  if ((await leftovers(disk, paths)).length === 0) return [];
  // Search again under the lock: the temporary file of a running writer is not a leftover.
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
