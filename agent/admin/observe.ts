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
  /** Of the record that counts while the disk takes no writes. @default none */
  kubeletExits?: string;
  /** Whether the caller reports problems of the local config: then a user who may not read it gets an error, not the word that it is broken. @default false */
  needsLocal?: boolean;
}

/**
 * Reads the store and the effective file. Changes nothing: what is damaged stays where it is, and is in `problems`.
 * @throws ActionError when there is no store, or it may not be read
 */
export async function observeNode(deps: AdminDeps): Promise<AdminFacts> {
  const { store, disk } = deps;
  const paths = layout(deps.dynamicConfigDir);
  await requireStore(disk, deps.dynamicConfigDir);
  const problems = await store.verify();
  // Else it would look damaged to one who may not read it.
  for (const { path } of problems) await readOptional(disk, path);
  // Reading one of these sets it aside when it is damaged: that is the agent's to do, not a reader's.
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
    local: await lookAtLocal(disk, deps.localConfig, deps.needsLocal === true),
    entries: await store.list(),
    effective,
    problems,
  };
}

/** Where the agent keeps the record of what it runs now. */
export async function activePath({
  disk,
  dynamicConfigDir,
  kubeletExits,
}: Pick<AdminDeps, 'disk' | 'dynamicConfigDir' | 'kubeletExits'>): Promise<string> {
  const inMemory = kubeletExits === undefined ? undefined : volatileActive(kubeletExits);
  const isThere = inMemory !== undefined && (await disk.stat(inMemory).catch(() => undefined)) !== undefined;
  return isThere ? inMemory : layout(dynamicConfigDir).active;
}

/** @throws ActionError with what to do about it, exit 3 */
export async function requireStore(disk: Disk, dynamicConfigDir: string): Promise<void> {
  const paths = layout(dynamicConfigDir);
  const { store, metaDir, checkpoints } = paths;
  const found = await reading(store, () => disk.stat(store));
  if (found?.kind === 'dir') {
    // Else every record would look damaged to one who may not read them.
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

/** The first of `paths` that is there and no directory. */
async function fileAmong(paths: readonly string[], disk: Disk): Promise<string | undefined> {
  for (const path of paths) {
    const found = await reading(path, () => disk.stat(path));
    if (found && found.kind !== 'dir') return path;
  }
  return undefined;
}

/** Only what keeps this user out is an error here; all else is for the one who reads the file for its content. */
async function reading<T>(path: string, look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EACCES' || code === 'EPERM') throw new ActionError('read', path, { hint: PERMISSION_DENIED, cause: error });
    return undefined;
  }
}

/** Whether a kubelet could start on it depends on its version: the agent says that, in the notices of active.json. */
async function lookAtLocal(disk: Disk, path: string, isNeeded: boolean): Promise<AdminFacts['local']> {
  if (isNeeded) await reading(path, () => disk.readLinked(path));
  try {
    await disk.readLinked(path);
    return { path, at: 'present' };
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? { path, at: 'missing' } : { path, at: 'broken', problem: describeError(error) };
  }
}

/** Looks at both that an agent may need to come between; far more than it ever writes in a row. */
const MAX_LOOKS = 5;

/** Record and file of one moment. The agent writes record, file, record: as long as the record is the same before and after, they belong together. */
async function readTogether(disk: Disk, activePath: string, effectivePath: string): Promise<Pick<AdminFacts, 'active' | 'effective'>> {
  let bytes = await readOptional(disk, activePath);
  for (let look = 1; ; look++) {
    const effective = await readEffective(disk, effectivePath);
    const again = await readOptional(disk, activePath);
    if (look === MAX_LOOKS || sha256(bytes ?? new Uint8Array()) === sha256(again ?? new Uint8Array())) {
      return { active: again ? parseActiveRecord(new TextDecoder().decode(again)) : await inItsPlace(disk, activePath), effective };
    }
    bytes = again;
  }
}

/** A directory, a link, what is too large: nothing that the agent could read back. */
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
