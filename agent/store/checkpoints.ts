import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import { tempPrefix } from '../../base/durable-disk.ts';
import { directoryNameProblem, keyProblem, type Manifest, type Payload, type PayloadRef, type Source } from '../checkpoint/source.ts';
import { adopted, type Found, payloadOf, readCheckpoint } from './checkpoint-files.ts';
import { compare, digestFiles } from '../checkpoint/payload.ts';
import { type CheckpointEntry, type CheckpointState, onPath, StoreError } from './store.ts';
import { type Layout, manifestName } from './layout.ts';
import { manifestText } from './records.ts';
import type { Locked } from './record-files.ts';

export interface CheckpointParts {
  disk: Disk;
  paths: Layout;
  clock: Pick<Clock, 'now'>;
  locked: Locked;
}

/** The directory `checkpoints/`: implements the checkpoint methods of {@link Store}. */
export class Checkpoints {
  readonly #disk: Disk;
  readonly #paths: Layout;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #locked: Locked;

  constructor({ disk, paths, clock, locked }: CheckpointParts) {
    this.#disk = disk;
    this.#paths = paths;
    this.#clock = clock;
    this.#locked = locked;
  }

  async load(ref: PayloadRef, adopt?: Pick<Source, 'namespace' | 'name'>): Promise<CheckpointState> {
    let found = await readCheckpoint(this.#disk, this.#paths, ref);
    if (found.at === 'intact' && !found.recorded && adopt) {
      const readable = found;
      try {
        found = await this.#locked(() => this.#adopt(ref, adopt));
      } catch {
        // A read-only or full disk: the checkpoint is usable without the manifest, and the next load tries to write it again.
        found = { ...readable, manifest: adopted(readable.manifest, adopt) };
      }
    }
    if (found.at === 'damaged') return { at: 'damaged', path: found.path, problem: found.problem };
    if (found.at === 'missing') return found;
    return { at: 'intact', checkpoint: { payload: payloadOf(ref, found), manifest: found.manifest } };
  }

  async save(payload: Payload): Promise<void> {
    const { checkpoints } = this.#paths;
    const { uid, resourceVersion, namespace, name, files } = payload;
    const missing = uid === '' ? 'UID' : resourceVersion === '' ? 'ResourceVersion' : undefined;
    const hostile =
      (missing && `ConfigMap must have a non-empty ${missing}`) ??
      refProblem(payload) ??
      [...files.keys()].map(keyProblem).find((problem) => problem !== undefined);
    if (hostile !== undefined) throw new StoreError('save a checkpoint in', checkpoints, { hint: hostile });

    const annotations = Object.entries(payload.annotations).filter(([key]) => key.startsWith('dkc.dev/'));
    const wanted: Manifest = {
      namespace,
      name,
      savedAt: new Date(this.#clock.now()).toISOString(),
      annotations: Object.fromEntries(annotations.toSorted(([a], [b]) => compare(a, b))),
      files: digestFiles(files),
    };
    const dir = this.#paths.checkpoint(payload);
    await this.#locked(() =>
      onPath('save', dir, async () => {
        const found = await readCheckpoint(this.#disk, this.#paths, payload);
        if (found.at === 'intact' && sameJson(found.manifest.files, wanted.files)) return this.#keep(payload, found, wanted);
        await this.#disk.makeDir(checkpoints);
        await this.#disk.makeDir(this.#paths.uidDir(uid));
        const manifest = new TextEncoder().encode(manifestText(wanted));
        await this.#disk.replaceDir(dir, new Map([...files, [manifestName, manifest]]), 0o700);
      }),
    );
  }

  async list(): Promise<CheckpointEntry[]> {
    const entries: { entry: CheckpointEntry; savedAt: string }[] = [];
    for (const ref of await this.#refs()) {
      const found = await readCheckpoint(this.#disk, this.#paths, ref);
      if (found.at === 'missing') continue;
      const { manifest } = found;
      const about = { ref, ...(manifest && { manifest }) };
      const entry: CheckpointEntry =
        found.at === 'intact' ? { ...about, state: 'intact' } : { ...about, state: 'damaged', problem: `${found.path}: ${found.problem}` };
      entries.push({ entry, savedAt: manifest?.savedAt ?? (await this.#modifiedAt(ref)) });
    }
    const name = ({ ref }: CheckpointEntry) => `${ref.uid}/${ref.resourceVersion}`;
    return entries.toSorted((a, b) => compare(b.savedAt, a.savedAt) || compare(name(a.entry), name(b.entry))).map(({ entry }) => entry);
  }

  /** @param usedBy - returns the record that still names the checkpoint, or undefined; called under the lock */
  async remove(ref: PayloadRef, usedBy: () => Promise<string | undefined>): Promise<void> {
    const hostile = refProblem(ref);
    if (hostile !== undefined) throw new StoreError('remove a checkpoint from', this.#paths.checkpoints, { hint: hostile });
    const [dir, uidDir] = [this.#paths.checkpoint(ref), this.#paths.uidDir(ref.uid)];
    await this.#locked(() =>
      onPath('remove', dir, async () => {
        const user = await usedBy();
        if (user !== undefined) throw new StoreError('remove', dir, { hint: `${user} refers to it` });
        await this.#disk.remove(dir);
        const others = (await this.#disk.stat(uidDir))?.kind === 'dir' ? await this.#disk.list(uidDir) : undefined;
        if (others?.length === 0) await this.#disk.remove(uidDir);
      }),
    );
  }

  /** Reads again under the lock: another process may have replaced the checkpoint since, with a manifest. */
  async #adopt(ref: PayloadRef, by: Pick<Source, 'namespace' | 'name'>): Promise<Found> {
    const found = await readCheckpoint(this.#disk, this.#paths, ref);
    if (found.at !== 'intact' || found.recorded) return found;
    const manifest = adopted(found.manifest, by);
    await this.#writeManifest(ref, manifest);
    return { ...found, manifest };
  }

  /** Keeps files that are equal already. Syncs them, since their writer may have died before that, and adds the annotations that upstream omits. */
  async #keep(ref: PayloadRef, found: Found & { at: 'intact' }, wanted: Manifest): Promise<void> {
    const manifest = { ...wanted, savedAt: found.manifest.savedAt };
    if (found.recorded && manifestText(found.manifest) === manifestText(manifest)) await this.#settle(ref);
    else await this.#writeManifest(ref, manifest);
  }

  /** Writes a manifest beside existing files. Its temporary file lies outside the checkpoint, since leftovers in a checkpoint are never swept. */
  async #writeManifest(ref: PayloadRef, manifest: Manifest): Promise<void> {
    await this.#settle(ref);
    const temp = join(this.#paths.uidDir(ref.uid), `${tempPrefix}manifest`);
    await this.#disk.replace(temp, new TextEncoder().encode(manifestText(manifest)));
    await this.#disk.rename(temp, this.#paths.manifest(ref));
  }

  async #settle(ref: PayloadRef): Promise<void> {
    await this.#disk.settle(this.#paths.checkpoint(ref));
    for (const dir of [this.#paths.uidDir(ref.uid), this.#paths.checkpoints]) await this.#disk.makeDir(dir); // syncs its entry
  }

  async #modifiedAt(ref: PayloadRef): Promise<string> {
    return new Date((await this.#disk.stat(this.#paths.checkpoint(ref)))?.modifiedMs ?? 0).toISOString();
  }

  /** Every `UID/RV` that could be a checkpoint, sorted. */
  async #refs(): Promise<PayloadRef[]> {
    const { checkpoints } = this.#paths;
    const refs: PayloadRef[] = [];
    for (const uid of await this.#names(checkpoints)) {
      if (directoryNameProblem('UID', uid) !== undefined) continue;
      const versions = await this.#names(this.#paths.uidDir(uid));
      refs.push(...versions.map((resourceVersion) => ({ uid, resourceVersion })).filter((ref) => refProblem(ref) === undefined));
    }
    return refs;
  }

  #names(dir: string): Promise<string[]> {
    return onPath('list', dir, async () => ((await this.#disk.stat(dir))?.kind === 'dir' ? this.#disk.list(dir) : []));
  }
}

function refProblem({ uid, resourceVersion }: PayloadRef): string | undefined {
  return directoryNameProblem('UID', uid) ?? directoryNameProblem('ResourceVersion', resourceVersion);
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
