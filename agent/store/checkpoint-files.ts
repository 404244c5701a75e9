import { join } from 'node:path';
import type { Disk, Stat } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';
import { digestFiles, MAX_KEYS } from '../checkpoint/payload.ts';
import { directoryNameProblem, keyProblem, type Manifest, type Payload, type PayloadRef, type Source } from '../checkpoint/source.ts';
import { hintFor, onPath, type Problem, type Store } from './store.ts';
import { wrongFile } from './initialize.ts';
import { type Layout, manifestName } from './layout.ts';
import { parseCondemned, type Parsed, parseManifest, parseRefused, parseTrial } from './records.ts';

/** Most bytes in all files of a checkpoint. An API server allows 1 MiB for a ConfigMap. */
const largestCheckpoint = 8 * 1024 * 1024;

/** The state of a checkpoint directory. `recorded` is false for upstream's checkpoints: they have no manifest to verify them against. */
export type Found =
  | { at: 'missing' }
  | { at: 'damaged'; path: string; problem: string; manifest?: Manifest }
  | { at: 'intact'; files: ReadonlyMap<string, Uint8Array>; manifest: Manifest; recorded: boolean };

/** Reads all of a checkpoint and compares it with its manifest. Changes nothing and never throws: a read error counts as damage. */
export async function readCheckpoint(disk: Disk, paths: Layout, ref: PayloadRef): Promise<Found> {
  const found = await readOnce(disk, paths, ref);
  // Reads take no lock: a checkpoint that is being replaced or removed looks damaged for a moment.
  return found.at === 'damaged' ? readOnce(disk, paths, ref) : found;
}

/** The payload that `found` holds under the name `ref`. */
export function payloadOf(ref: PayloadRef, { files, manifest }: Found & { at: 'intact' }): Payload {
  const { namespace, name, annotations } = manifest;
  return { namespace, name, uid: ref.uid, resourceVersion: ref.resourceVersion, files, annotations };
}

/** A manifest for a checkpoint that upstream wrote without one; namespace and name come from the record that names the checkpoint. */
export function adopted(manifest: Manifest, by: Pick<Source, 'namespace' | 'name'>): Manifest {
  return { ...manifest, namespace: by.namespace, name: by.name, adopted: true };
}

async function readOnce(disk: Disk, paths: Layout, ref: PayloadRef): Promise<Found> {
  const hostile = directoryNameProblem('UID', ref.uid) ?? directoryNameProblem('ResourceVersion', ref.resourceVersion);
  if (hostile !== undefined) return { at: 'damaged', path: paths.checkpoints, problem: hostile };
  const dir = paths.checkpoint(ref);
  let manifest: Manifest | undefined;
  const damaged = (path: string, problem: string): Found => ({ at: 'damaged', path, problem, ...(manifest && { manifest }) });
  let at = dir;
  try {
    const there = await disk.stat(dir);
    if (!there) return { at: 'missing' };
    if (there.kind !== 'dir') return damaged(dir, 'it is not a directory');
    const names = await disk.list(dir);
    // A checkpoint from before this limit: reading that many files would delay boot, and with it the kubelet.
    if (names.length > MAX_KEYS + 1) return damaged(dir, `it has more than ${MAX_KEYS} files`);

    if (names.includes(manifestName)) {
      at = paths.manifest(ref);
      const parsed = parseManifest(await disk.read(at));
      if (!parsed.ok) return damaged(at, parsed.problem);
      manifest = parsed.value;
      const listed = new Set(names);
      for (const { key } of manifest.files) if (!listed.has(key)) return damaged(join(dir, key), 'it is missing');
    }

    const files = new Map<string, Uint8Array>();
    const expected = new Set(manifest?.files.map((file) => file.key));
    let room = largestCheckpoint;
    for (const name of names) {
      if (name === manifestName) continue;
      at = join(dir, name);
      if (keyProblem(name) !== undefined || (manifest && !expected.has(name))) return damaged(at, 'it does not belong to the checkpoint');
      const bytes = await disk.read(at, room);
      room -= bytes.length;
      files.set(name, bytes);
    }

    const digests = digestFiles(files);
    if (manifest) {
      const sums = new Map(digests.map((file) => [file.key, file]));
      for (const { key, bytes, sha256 } of manifest.files) {
        const actual = sums.get(key);
        if (actual?.bytes !== bytes) return damaged(join(dir, key), `it has ${actual?.bytes} bytes, its manifest says ${bytes}`);
        if (actual.sha256 !== sha256) return damaged(join(dir, key), 'its content is not what its manifest says');
      }
      return { at: 'intact', files, manifest, recorded: true };
    }
    if (files.size === 0) return damaged(dir, 'it is empty'); // an assigned ConfigMap has at least one key
    const savedAt = new Date(there.modifiedMs).toISOString();
    return { at: 'intact', files, manifest: { namespace: '', name: '', savedAt, annotations: {}, files: digests }, recorded: false };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return damaged(at, 'it is missing');
    return damaged(at, error instanceof RangeError ? `the checkpoint is larger than ${largestCheckpoint} bytes` : hintFor(error));
  }
}

/** All problems of records and checkpoints; changes nothing and sets nothing aside. */
export async function verifyStore(disk: Disk, paths: Layout, store: Pick<Store, 'record'>): Promise<Problem[]> {
  const problems: Problem[] = [];
  if ((await onPath('inspect', paths.store, () => disk.stat(paths.store)))?.kind !== 'dir') {
    return [{ path: paths.store, problem: 'there is no store' }];
  }

  for (const name of ['assigned', 'last-known-good'] as const) {
    const path = paths.meta(name);
    const record = await store.record(name);
    if (record.at === 'damaged') problems.push({ path: record.path, problem: record.problem });
    if (record.at === 'missing' && name === 'assigned') {
      problems.push({ path, problem: 'it is missing: what is assigned is unknown until the agent has asked the API' });
    }
    if (record.at === 'known' && record.source && (await readCheckpoint(disk, paths, record.source)).at === 'missing') {
      problems.push({ path, problem: 'it refers to a checkpoint that does not exist' });
    }
  }

  const own = async (path: string, parse: (bytes: Uint8Array) => Parsed<unknown>) => {
    try {
      const parsed = parse(await disk.read(path));
      if (!parsed.ok) problems.push({ path, problem: parsed.problem });
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') problems.push({ path, problem: hintFor(error) });
    }
  };
  await own(paths.trial, parseTrial);
  await own(paths.condemned, parseCondemned);
  await own(paths.refused, parseRefused);
  // Cut lines are no problem, but a directory or link in its place is: then there is no history, and a rollback finds no earlier config.
  const journal = await onPath('inspect', paths.journal, () => disk.stat(paths.journal));
  const wrong = journal && wrongFile(paths.journal, journal);
  if (wrong !== undefined) problems.push({ path: paths.journal, problem: wrong });

  const below = async (dir: string, what: 'UID' | 'ResourceVersion', inspect: (name: string) => Promise<void>) => {
    const kind = (await onPath('inspect', dir, () => disk.stat(dir)))?.kind;
    if (kind !== undefined && kind !== 'dir') problems.push({ path: dir, problem: 'it is not a directory' });
    for (const name of await onPath('list', dir, async () => (kind === 'dir' ? disk.list(dir) : []))) {
      const path = join(dir, name);
      if (directoryNameProblem(what, name) !== undefined) problems.push({ path, problem: 'it does not belong to a store' });
      else if ((await disk.stat(path))?.kind !== 'dir') problems.push({ path, problem: 'it is not a directory' });
      else await inspect(name);
    }
  };
  await below(paths.checkpoints, 'UID', (uid) =>
    below(paths.uidDir(uid), 'ResourceVersion', async (resourceVersion) => {
      const found = await readCheckpoint(disk, paths, { uid, resourceVersion });
      if (found.at === 'damaged') problems.push({ path: found.path, problem: found.problem });
    }),
  );
  return [...problems, ...(await inaccessibleBelow(disk, paths))];
}

/**
 * Files that the agent may not read or change: it runs as the owner of D, and its unit drops the capability to override file modes. Below an
 * inaccessible directory nothing else is reported.
 */
async function inaccessibleBelow(disk: Disk, paths: Layout): Promise<Problem[]> {
  const owner = (await disk.stat(paths.root))?.uid;
  const found: Problem[] = [];
  const look = async (path: string): Promise<void> => {
    const there = await disk.stat(path).catch(() => undefined);
    if (there === undefined || there.kind === 'other') return;
    const problem = barrier(path, there, owner);
    if (problem !== undefined) found.push({ path, problem, isInaccessible: true });
    else if (there.kind === 'dir') for (const name of await disk.list(path).catch(() => [])) await look(join(path, name));
  };
  await look(paths.store);
  return found;
}

function barrier(path: string, { kind, uid, mode }: Stat, owner: number | undefined): string | undefined {
  if (uid !== owner)
    return `it belongs to uid ${uid}, so the agent may not read or change it: chown -R ${owner === 0 ? 'root:' : owner} ${path}`;
  const [needed, rights, what] = kind === 'dir' ? [0o700, 'rwx', 'read or change'] : [0o400, 'r', 'read'];
  if ((mode & needed) === needed) return undefined;
  return `its mode is ${mode.toString(8).padStart(4, '0')}, so the agent may not ${what} it: chmod u+${rights} ${path}`;
}
