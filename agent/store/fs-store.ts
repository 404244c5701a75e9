import { AsyncLocalStorage } from 'node:async_hooks';
import { basename, dirname, join } from 'node:path';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import { tempPrefix } from '../../base/durable-disk.ts';
import { errorCode } from '../../base/errors.ts';
import { LockError, type Locks } from '../../base/lock.ts';
import type { Manifest, Payload } from '../checkpoint/payload.ts';
import { samePayload, type MaybeSource, type PayloadRef, type Source } from '../checkpoint/source.ts';
import { directoryNameProblem, keyProblem, sourceProblems } from '../checkpoint/verify-names.ts';
import { adopted, payloadOf, readCheckpoint, type Found } from './checkpoint-files.ts';
import { compare, digestFiles } from './content.ts';
import { onPath, remedy } from './failure.ts';
import { damagedName, layout, manifestName, type Layout } from './layout.ts';
import * as records from './records.ts';
import { parseSource, serializeSource } from './serialized.ts';
import { StoreError, type CheckpointEntry, type CheckpointState, type CondemnedRecord, type JournalLine } from './store.ts';
import type { MetaName, MetaRecord, Problem, Store, TrialRecord } from './store.ts';
import { sweepLeftovers } from './sweep.ts';
import { verifyStore } from './verify.ts';

export interface FsStoreParts {
  disk: Disk;
  locks: Locks;
  /** D, the dynamic config directory; absolute. The store is `D/store`. */
  root: string;
  clock: Pick<Clock, 'now'>;
  /** Told once per file that was damaged and is set aside, for log and journal. */
  onDamage?: (path: string, problem: string) => void;
  /** Longest wait for the store lock. @default 10_000 */
  lockWaitMs?: Millis;
}

const META_NAMES: readonly MetaName[] = ['assigned', 'last-known-good'];
/** A meta file is some 200 bytes; names and keys at their longest make it 1,300. */
const META_LIMIT = 64 * 1024;
const JOURNAL_KEEPS = 1000;
/** Rewriting the journal for every line past the limit would write a thousand lines to add one. */
const JOURNAL_REWRITE_AT = 1100;
/** Damaged files kept per name, so that a disk that breaks a file at every boot does not fill up. */
const DAMAGED_KEPT = 5;

const textBytes = (text: string) => new TextEncoder().encode(text);

/** The store on a disk. The order of its writes is what makes a crash harmless; docs/store-format.md says how. */
export class FsStore implements Store {
  readonly paths: Layout;
  readonly #parts: FsStoreParts;
  readonly #disk: Disk;
  /** Tells a change made inside `locked` from one that comes beside it. Ended ones stay false for promises that outlive them. */
  readonly #holding = new AsyncLocalStorage<{ active: boolean }>();
  #lastChange: Promise<unknown> = Promise.resolve();
  readonly #told = new Set<string>();

  constructor(parts: FsStoreParts) {
    this.paths = layout(parts.root);
    this.#parts = parts;
    this.#disk = parts.disk;
  }

  async initialize(): Promise<boolean> {
    const { root, store, checkpoints, metaDir } = this.paths;
    for (const dir of [root, store, checkpoints, metaDir]) await this.#expectDir(dir);
    if ((await this.#disk.stat(metaDir)) && (await this.#disk.stat(checkpoints))) {
      // Whoever wrote these may have died before syncing them, and from here on they count as what this node was told.
      await onPath('sync', metaDir, () => this.#disk.settle(metaDir));
      return false;
    }
    await onPath('make', root, () => this.#disk.makeDir(root));
    return this.locked(async () => {
      for (const dir of [store, checkpoints]) await onPath('make', dir, () => this.#disk.makeDir(dir));
      if (await this.#disk.stat(metaDir)) return false;
      if ((await onPath('list', checkpoints, () => this.#disk.list(checkpoints))).length > 0) {
        // Its meta directory was lost: what is assigned is unknown, not nothing.
        await onPath('make', metaDir, () => this.#disk.makeDir(metaDir));
        return false;
      }
      // Both files or no directory, so that a crash here can never look like a store that lost its records.
      const empty = new Map(META_NAMES.map((name) => [name, new Uint8Array()]));
      await onPath('make', metaDir, () => this.#disk.replaceDir(metaDir, empty, 0o755));
      return true;
    });
  }

  sweep(): Promise<string[]> {
    return sweepLeftovers(this.#disk, this.paths, (change) => this.locked(change));
  }

  async record(name: MetaName): Promise<MetaRecord> {
    const path = this.paths.meta(name);
    const damaged = (problem: string): MetaRecord => ({ at: 'damaged', path, problem });
    try {
      const there = await this.#disk.stat(path);
      if (!there) return { at: 'missing' };
      if (there.kind !== 'file') return damaged(`expected regular file at ${JSON.stringify(path)}, but mode is ${modeText(there)}`);
      const parsed = parseSource(await this.#disk.read(path, META_LIMIT));
      if (!parsed.ok) return damaged(parsed.problem);
      if (parsed.source === null) return { at: 'known', source: null };
      // It becomes a path, and part of a status that an API server refuses as a whole when one field is wrong.
      const problems = sourceProblems(parsed.source);
      return problems.length > 0 ? damaged(problems.join('; ')) : { at: 'known', source: parsed.source };
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return { at: 'missing' };
      return damaged(error instanceof RangeError ? 'it is too large to be a record' : remedy(error));
    }
  }

  async setRecord(name: MetaName, source: MaybeSource): Promise<void> {
    const path = this.paths.meta(name);
    if (source) {
      const missing = source.uid === '' ? 'UID' : source.resourceVersion === '' ? 'ResourceVersion' : undefined;
      if (missing) throw new StoreError('write', path, { hint: `failed to write RemoteConfigSource, empty ${missing} is ambiguous` });
      const problems = sourceProblems(source);
      if (problems.length > 0) throw new StoreError('write', path, { hint: problems.join('; ') });
    }
    await this.locked(() => this.#replaceIfOther(path, textBytes(serializeSource(source))));
  }

  async setAside(path: string): Promise<void> {
    const { trial, condemned, journal } = this.paths;
    if (![...META_NAMES.map((name) => this.paths.meta(name)), trial, condemned, journal].includes(path)) {
      throw new StoreError('set aside', path, { hint: 'it is no record of this store' });
    }
    await this.locked(() =>
      onPath('set aside', path, async () => {
        if (!(await this.#disk.stat(path))) return;
        let to = damagedName(path, this.#parts.clock.now());
        for (let n = 2; await this.#disk.stat(to); n++) to = `${damagedName(path, this.#parts.clock.now())}-${n}`;
        await this.#disk.rename(path, to);
        const dir = dirname(path);
        const older = (await this.#disk.list(dir)).filter((name) => name.startsWith(`${basename(path)}.damaged-`)).slice(0, -DAMAGED_KEPT);
        for (const name of older) await this.#disk.remove(join(dir, name));
      }),
    );
  }

  async load(ref: PayloadRef, adopt?: Pick<Source, 'namespace' | 'name'>): Promise<CheckpointState> {
    let found = await readCheckpoint(this.#disk, this.paths, ref);
    if (found.at === 'intact' && !found.recorded && adopt) {
      const readable = found;
      try {
        found = await this.locked(() => this.#adopt(ref, adopt));
      } catch {
        // A read-only or full disk: what was read is good all the same, and the next load tries again.
        found = { ...readable, manifest: adopted(readable.manifest, adopt) };
      }
    }
    if (found.at !== 'intact') return found.at === 'missing' ? found : { at: 'damaged', path: found.path, problem: found.problem };
    return { at: 'intact', checkpoint: { payload: payloadOf(ref, found), manifest: found.manifest } };
  }

  async save(payload: Payload): Promise<void> {
    const { checkpoints } = this.paths;
    const { uid, resourceVersion, namespace, name } = payload;
    const missing = uid === '' ? 'UID' : resourceVersion === '' ? 'ResourceVersion' : undefined;
    const hostile =
      (missing && `ConfigMap must have a non-empty ${missing}`) ??
      directoryNameProblem('UID', uid) ??
      directoryNameProblem('ResourceVersion', resourceVersion) ??
      [...payload.files.keys()].map(keyProblem).find((problem) => problem !== undefined);
    if (hostile !== undefined) throw new StoreError('save a checkpoint in', checkpoints, { hint: hostile });

    const annotations = Object.fromEntries(
      Object.entries(payload.annotations)
        .filter(([key]) => key.startsWith('dkc.dev/'))
        .toSorted(([a], [b]) => compare(a, b)),
    );
    const savedAt = new Date(this.#parts.clock.now()).toISOString();
    const wanted: Manifest = { namespace, name, savedAt, annotations, files: digestFiles(payload.files) };
    const dir = this.paths.checkpoint(payload);
    await this.locked(() =>
      onPath('save', dir, async () => {
        const found = await readCheckpoint(this.#disk, this.paths, payload);
        if (found.at === 'intact' && sameText(found.manifest.files, wanted.files)) {
          const asIs = { ...wanted, savedAt: found.manifest.savedAt };
          if (found.recorded && records.manifestText(found.manifest) === records.manifestText(asIs)) {
            await this.#settleCheckpoint(payload);
          } else {
            await this.#writeManifest(payload, asIs);
          }
          return;
        }
        await this.#disk.makeDir(checkpoints);
        await this.#disk.makeDir(this.paths.uidDir(uid));
        await this.#disk.replaceDir(dir, new Map([...payload.files, [manifestName, textBytes(records.manifestText(wanted))]]), 0o700);
      }),
    );
  }

  async list(): Promise<CheckpointEntry[]> {
    const entries: { entry: CheckpointEntry; savedAt: string }[] = [];
    for (const ref of await this.#refs()) {
      const found = await readCheckpoint(this.#disk, this.paths, ref);
      if (found.at === 'missing') continue;
      const { manifest } = found;
      const about = { ref, ...(manifest && { manifest }) };
      const entry: CheckpointEntry =
        found.at === 'intact' ? { ...about, state: 'intact' } : { ...about, state: 'damaged', problem: `${found.path}: ${found.problem}` };
      const modifiedMs = (await this.#disk.stat(this.paths.checkpoint(ref)))?.modifiedMs ?? 0;
      entries.push({ entry, savedAt: manifest?.savedAt ?? new Date(modifiedMs).toISOString() });
    }
    const name = ({ ref }: CheckpointEntry) => `${ref.uid}/${ref.resourceVersion}`;
    return entries.toSorted((a, b) => compare(b.savedAt, a.savedAt) || compare(name(a.entry), name(b.entry))).map(({ entry }) => entry);
  }

  async removeCheckpoint(ref: PayloadRef): Promise<void> {
    const hostile = directoryNameProblem('UID', ref.uid) ?? directoryNameProblem('ResourceVersion', ref.resourceVersion);
    if (hostile !== undefined) throw new StoreError('remove a checkpoint from', this.paths.checkpoints, { hint: hostile });
    const [dir, uidDir] = [this.paths.checkpoint(ref), this.paths.uidDir(ref.uid)];
    await this.locked(() =>
      onPath('remove', dir, async () => {
        for (const name of META_NAMES) {
          const record = await this.record(name);
          if (record.at === 'known' && record.source && samePayload(record.source, ref)) {
            throw new StoreError('remove', dir, { hint: `${name} names it` });
          }
        }
        await this.#disk.remove(dir);
        if ((await this.#disk.stat(uidDir))?.kind === 'dir' && (await this.#disk.list(uidDir)).length === 0)
          await this.#disk.remove(uidDir);
      }),
    );
  }

  trial(): Promise<TrialRecord | undefined> {
    return this.#readOwn(this.paths.trial, records.parseTrial);
  }

  async setTrial(trial: TrialRecord | undefined): Promise<void> {
    const path = this.paths.trial;
    await this.locked(async () => {
      if (trial) await this.#replaceIfOther(path, textBytes(records.trialText(trial)));
      else await onPath('remove', path, () => this.#disk.remove(path));
    });
  }

  async condemned(): Promise<readonly CondemnedRecord[]> {
    return (await this.#readOwn(this.paths.condemned, records.parseCondemned)) ?? [];
  }

  async setCondemned(condemned: readonly CondemnedRecord[]): Promise<void> {
    await this.locked(() => this.#replaceIfOther(this.paths.condemned, textBytes(records.condemnedText(condemned))));
  }

  async journal(): Promise<JournalLine[]> {
    const lines = await this.#readOwn(this.paths.journal, (bytes) => ({ ok: true, value: records.parseJournal(bytes) }));
    return (lines ?? []).slice(-JOURNAL_KEEPS);
  }

  async addToJournal(line: JournalLine): Promise<void> {
    const path = this.paths.journal;
    await this.locked(() =>
      onPath('write', path, async () => {
        const before = (await this.#readOwn(path, (bytes) => ({ ok: true, value: bytes }))) ?? new Uint8Array();
        const added = records.journalText(line);
        const lineCount = before.reduce((sum, byte) => sum + (byte === NEWLINE ? 1 : 0), 0);
        if (lineCount >= JOURNAL_REWRITE_AT) {
          const kept = records.parseJournal(before).slice(1 - JOURNAL_KEEPS);
          await this.#disk.replace(path, textBytes(kept.map(records.journalText).join('') + added));
        } else {
          // A crash may have cut the last line: a new one must not continue it.
          const cut = before.length > 0 && before.at(-1) !== NEWLINE;
          await this.#disk.append(path, textBytes(cut ? `\n${added}` : added));
        }
      }),
    );
  }

  verify(): Promise<Problem[]> {
    return verifyStore(this.#disk, this.paths, this);
  }

  async locked<T>(change: (store: Store) => Promise<T>): Promise<T> {
    if (this.#holding.getStore()?.active) return change(this);
    const run = async () => {
      await using _ = await this.#takeLock();
      const holder = { active: true };
      try {
        return await this.#holding.run(holder, () => change(this));
      } finally {
        holder.active = false;
      }
    };
    // Within one process changes queue here; the lock of the kernel is for the others.
    const mine = this.#lastChange.then(run, run);
    this.#lastChange = mine.catch(() => undefined);
    return mine;
  }

  async #takeLock(): Promise<AsyncDisposable> {
    const path = this.paths.storeLock;
    try {
      return await this.#parts.locks.take(path, this.#parts.lockWaitMs ?? 10_000);
    } catch (error) {
      if (error instanceof LockError && error.cause === undefined) throw error;
      const cause = error instanceof LockError ? error.cause : error;
      throw new StoreError('lock', path, { hint: remedy(cause), cause: error });
    }
  }

  async #expectDir(path: string): Promise<void> {
    const there = await onPath('look at', path, () => this.#disk.stat(path));
    if (!there || there.kind === 'dir') return;
    const hint = `expected dir at ${JSON.stringify(path)}, but mode is ${modeText(there)}: move it away`;
    throw new StoreError('use', path, { hint });
  }

  /** Equal bytes are left as they are, and made durable: their writer may have died before that. */
  async #replaceIfOther(path: string, bytes: Uint8Array): Promise<void> {
    await onPath('write', path, async () => {
      if (await this.#holds(path, bytes)) await this.#disk.settle(path);
      else await this.#disk.replace(path, bytes);
    });
  }

  async #holds(path: string, bytes: Uint8Array): Promise<boolean> {
    try {
      return Buffer.compare(await this.#disk.read(path, bytes.length), bytes) === 0;
    } catch {
      return false; // missing, longer or unreadable: writing it says what is wrong, if anything is
    }
  }

  async #readOwn<T>(path: string, parse: (bytes: Uint8Array) => records.Parsed<T>): Promise<T | undefined> {
    const first = await this.#parseOwn(path, parse);
    if (first.ok) return first.value;
    try {
      // Once more under the lock: another process may have mended it by now.
      return await this.locked(async () => {
        const again = await this.#parseOwn(path, parse);
        if (again.ok) return again.value;
        await this.setAside(path);
        return undefined;
      });
    } catch {
      return undefined; // a disk that cannot be written keeps the damaged file, and it still reads as none
    } finally {
      if (!this.#told.has(path)) this.#parts.onDamage?.(path, first.problem);
      this.#told.add(path);
    }
  }

  async #parseOwn<T>(path: string, parse: (bytes: Uint8Array) => records.Parsed<T>): Promise<records.Parsed<T | undefined>> {
    try {
      return parse(await this.#disk.read(path));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return { ok: true, value: undefined };
      return { ok: false, problem: error instanceof RangeError ? 'it is too large' : remedy(error) };
    }
  }

  /** Under the lock: whoever replaced the checkpoint since it was read has given it a manifest of its own. */
  async #adopt(ref: PayloadRef, by: Pick<Source, 'namespace' | 'name'>): Promise<Found> {
    const found = await readCheckpoint(this.#disk, this.paths, ref);
    if (found.at !== 'intact' || found.recorded) return found;
    const manifest = adopted(found.manifest, by);
    await this.#writeManifest(ref, manifest);
    return { ...found, manifest };
  }

  /** Puts a manifest beside files that are there. Its temporary file lies outside, since nothing is ever swept in a checkpoint. */
  async #writeManifest(ref: PayloadRef, manifest: Manifest): Promise<void> {
    await this.#settleCheckpoint(ref);
    const temp = join(this.paths.uidDir(ref.uid), `${tempPrefix}manifest`);
    await this.#disk.replace(temp, textBytes(records.manifestText(manifest)));
    await this.#disk.rename(temp, this.paths.manifest(ref));
  }

  async #settleCheckpoint(ref: PayloadRef): Promise<void> {
    await this.#disk.settle(this.paths.checkpoint(ref));
    await this.#disk.makeDir(this.paths.uidDir(ref.uid)); // it exists; this makes its entry durable
  }

  /** Every `UID/RV` that could be a checkpoint, sorted. */
  async #refs(): Promise<PayloadRef[]> {
    const { checkpoints } = this.paths;
    const refs: PayloadRef[] = [];
    for (const uid of await this.#names(checkpoints)) {
      if (directoryNameProblem('UID', uid) !== undefined) continue;
      for (const resourceVersion of await this.#names(this.paths.uidDir(uid))) {
        if (directoryNameProblem('ResourceVersion', resourceVersion) === undefined) refs.push({ uid, resourceVersion });
      }
    }
    return refs;
  }

  #names(dir: string): Promise<string[]> {
    return onPath('list', dir, async () => ((await this.#disk.stat(dir))?.kind === 'dir' ? this.#disk.list(dir) : []));
  }
}

const NEWLINE = 0x0a;

function sameText(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A mode as Go prints it: `"drwxr-xr-x"`. Of other kinds than file and directory only the permissions are known. */
function modeText({ kind, mode }: { kind: string; mode: number }): string {
  const bits = Array.from('rwxrwxrwx', (letter, i) => (mode & (0o400 >> i) ? letter : '-')).join('');
  return JSON.stringify(`${kind === 'dir' ? 'd' : kind === 'file' ? '-' : '?'}${bits}`);
}
