import { dirname } from 'node:path';
import type { AdminFacts } from './facts.ts';
import { parseActiveRecord } from '../store/active-record.ts';
import { sha256 } from '../checkpoint/payload.ts';
import { layout, volatileActive } from '../store/layout.ts';
import { MAX_JOURNAL_BYTES } from '../store/journal.ts';
import { parseJournal } from '../store/records.ts';
import { hintFor, type Store } from '../store/store.ts';
import type { Disk } from '../../base/disk.ts';
import { ActionError, describeError, errorCode, PERMISSION_DENIED } from '../../base/errors.ts';

export interface AdminDeps {
  store: Store;
  disk: Disk;
  /** D, absolute. */
  dynamicConfigDir: string;
  effectiveConfig: string;
  localConfig: string;
  /** Path of the exits file; the record that is valid while the disk is not writable lies beside it. @default none */
  kubeletExits?: string;
  /** Whether the caller reports problems of the local config: then a user without read permission gets an error, not a broken config. @default false */
  needsLocal?: boolean;
}

/**
 * Reads the store and the effective file. Changes nothing: damaged files stay in their place and are in `problems`.
 * @throws ActionError when there is no store, or the user may not read it
 */
export async function observeNode(deps: AdminDeps): Promise<AdminFacts> {
  const { store, disk } = deps;
  const paths = layout(deps.dynamicConfigDir);
  await requireStore(disk, deps.dynamicConfigDir);
  const problems = await store.verify();
  // Throws where this user has no read permission: the file must not be reported as damaged then.
  for (const { path } of problems) await readOptional(disk, path);
  // The store sets these files aside when it reads them damaged: only the agent may do that, so skip damaged ones.
  const readable = (path: string) => !problems.some((problem) => problem.path === path);
  const { active, effective } = await readTogether(disk, await activePath(deps), deps.effectiveConfig);
  if (active?.ok === false) problems.push({ path: paths.active, problem: active.problem });
  return {
    assigned: await store.record('assigned'),
    lastKnownGood: await store.record('last-known-good'),
    active,
    trial: readable(paths.trial) ? await store.trial() : undefined,
    condemned: readable(paths.condemned) ? await store.condemned() : [],
    refused: readable(paths.refused) ? await store.refused() : undefined,
    journal: parseJournal((await reading(paths.journal, () => disk.readEnd(paths.journal, MAX_JOURNAL_BYTES))) ?? new Uint8Array()),
    local: await inspectLocal(disk, deps.localConfig, deps.needsLocal === true),
    entries: await store.list(),
    effective,
    problems,
  };
}

/** Path of the current `active.json`: in /run while the disk is not writable. */
export async function activePath({
  disk,
  dynamicConfigDir,
  kubeletExits,
}: Pick<AdminDeps, 'disk' | 'dynamicConfigDir' | 'kubeletExits'>): Promise<string> {
  const inMemory = kubeletExits === undefined ? undefined : volatileActive(kubeletExits);
  const isThere = inMemory !== undefined && (await disk.stat(inMemory).catch(() => undefined)) !== undefined;
  return isThere ? inMemory : layout(dynamicConfigDir).active;
}

/** @throws ActionError with a hint, exit 3 */
export async function requireStore(disk: Disk, dynamicConfigDir: string): Promise<void> {
  const paths = layout(dynamicConfigDir);
  const { store, metaDir, checkpoints } = paths;
  const found = await reading(store, () => disk.stat(store));
  if (found?.kind === 'dir') {
    // Throws where this user has no read permission: the records must not be reported as damaged then.
    for (const dir of [metaDir, checkpoints]) await reading(dir, () => disk.list(dir));
    for (const path of [paths.meta('assigned'), paths.meta('last-known-good')]) await reading(path, () => disk.read(path));
    return;
  }
  const blocker = found ? store : await fileAmong([dynamicConfigDir, dirname(dynamicConfigDir)], disk);
  const hint = blocker
    ? `${blocker === store ? 'it' : blocker} is not a directory; move it away and start dkc-agent, or set another directory with --dynamic-config-dir`
    : 'there is no store; start dkc-agent on this node first, or set another directory with --dynamic-config-dir';
  throw new ActionError('open store', store, { hint });
}

/** The first of `paths` that exists and is not a directory. */
async function fileAmong(paths: readonly string[], disk: Disk): Promise<string | undefined> {
  for (const path of paths) {
    const found = await reading(path, () => disk.stat(path));
    if (found && found.kind !== 'dir') return path;
  }
  return undefined;
}

/** Throws only where this user has no permission; the later read of the content reports other errors. */
async function reading<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EACCES' || code === 'EPERM') throw new ActionError('read', path, { hint: PERMISSION_DENIED, cause: error });
    return undefined;
  }
}

/** Checks only that the file can be read. Whether a kubelet can start on it depends on its version: see the notices in active.json. */
async function inspectLocal(disk: Disk, path: string, isNeeded: boolean): Promise<AdminFacts['local']> {
  if (isNeeded) await reading(path, () => disk.readLinked(path));
  try {
    await disk.readLinked(path);
    return { path, at: 'present' };
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? { path, at: 'missing' } : { path, at: 'broken', problem: describeError(error) };
  }
}

/** Most attempts to read both files consistently; the agent never writes as many times in a row. */
const MAX_READS = 5;

/** Reads record and file of one moment. The agent writes record, file, record: if the record is the same before and after, they belong together. */
async function readTogether(disk: Disk, activePath: string, effectivePath: string): Promise<Pick<AdminFacts, 'active' | 'effective'>> {
  let bytes = await readOptional(disk, activePath);
  for (let reads = 1; ; reads++) {
    const effective = await readEffective(disk, effectivePath);
    const again = await readOptional(disk, activePath);
    if (reads === MAX_READS || sha256(bytes ?? new Uint8Array()) === sha256(again ?? new Uint8Array())) {
      return { active: again ? parseActiveRecord(new TextDecoder().decode(again)) : await inItsPlace(disk, activePath), effective };
    }
    bytes = again;
  }
}

/** A directory, a link or a file that is too large in the place of the record; undefined where nothing is there. */
async function inItsPlace(disk: Disk, path: string): Promise<AdminFacts['active']> {
  try {
    await disk.read(path);
    return undefined;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? undefined : { ok: false, problem: hintFor(error) };
  }
}

async function readEffective(disk: Disk, path: string): Promise<AdminFacts['effective']> {
  const bytes = await readOptional(disk, path);
  return bytes ? { path, sha256: sha256(bytes), text: new TextDecoder().decode(bytes) } : { path, sha256: '', text: '' };
}

async function readOptional(disk: Disk, path: string): Promise<Uint8Array | undefined> {
  return reading(path, () => disk.read(path));
}
