import { join } from 'node:path';
import type { Disk } from '../../base/disk.ts';
import { tempPrefix } from '../../base/durable-disk.ts';
import { onPath } from './failure.ts';
import type { Layout } from './layout.ts';
import type { Locked } from './store-lock.ts';

/**
 * ConfigMaps whose checkpoints are looked through. Boot sweeps, and the kubelet waits for it; a store has a handful, since garbage collection removes the
 * others. A leftover beyond harms nobody: it is found once there are fewer.
 */
export const MAX_SWEPT = 1_000;

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
