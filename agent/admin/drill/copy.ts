import { dirname, join } from 'node:path';
import type { Harm } from './plan.ts';
import type { MaybeSource, Source } from '../../checkpoint/source.ts';
import { layout, type Layout } from '../../store/layout.ts';
import type { Disk } from '../../../base/disk.ts';

/**
 * Copies all that boot reads of a store from `from` to `to`: records, condemnations, and the checkpoints that the two records name.
 * Only reads `from`. The local config stays where it is: boot reads it, and its relative paths mean its own directory.
 */
export async function copyStore(disk: Disk, from: string, to: string, needed: readonly MaybeSource[]): Promise<void> {
  const [old, copy] = [layout(from), layout(to)];
  await disk.makeDir(copy.metaDir, 0o700);
  await disk.makeDir(copy.checkpoints, 0o700);
  await copyFiles(disk, old.metaDir, copy.metaDir);
  for (const source of needed) {
    if (source === null || !(await disk.stat(old.checkpoint(source)))) continue;
    await disk.makeDir(copy.checkpoint(source), 0o700);
    await copyFiles(disk, old.checkpoint(source), copy.checkpoint(source));
  }
}

export async function copyFile(disk: Disk, from: string, to: string): Promise<void> {
  if ((await disk.stat(from))?.kind !== 'file') return;
  await disk.makeDir(dirname(to), 0o700);
  await disk.replace(to, await disk.read(from));
}

async function copyFiles(disk: Disk, from: string, to: string): Promise<void> {
  for (const name of await disk.list(from)) {
    if ((await disk.stat(join(from, name)))?.kind === 'file') await disk.replace(join(to, name), await disk.read(join(from, name)));
  }
}

const garbage = new TextEncoder().encode('{ a crash left this');

/** Breaks a copy as `harm` says; condemning is the store's own business. */
export async function breakCopy(disk: Disk, root: string, harm: Harm, assigned: MaybeSource, trusted: MaybeSource): Promise<void> {
  const paths = layout(root);
  if (harm === 'damage-record') await disk.replace(paths.meta('assigned'), garbage);
  if ((harm === 'damage-assigned' || harm === 'damage-both') && assigned) await tear(disk, paths, assigned);
  if (harm === 'damage-both' && trusted) await tear(disk, paths, trusted);
}

/** No manifest matches this, and without one it does not decode either. Where there is no such file, the whole checkpoint goes. */
async function tear(disk: Disk, paths: Layout, source: Source): Promise<void> {
  const path = paths.file(source, source.kubeletConfigKey);
  if (await disk.stat(path)) await disk.replace(path, garbage);
  else await disk.remove(paths.checkpoint(source));
}
