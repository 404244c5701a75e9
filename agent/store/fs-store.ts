import { dirname, join } from 'node:path';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import { errorCode } from '../../base/errors.ts';
import type { Locks } from '../../base/lock.ts';
import {
  type ContentRef,
  type MaybeSource,
  type Payload,
  type PayloadRef,
  samePayload,
  type Source,
  sourceProblems,
} from '../checkpoint/source.ts';
import { defaultReadLimit } from '../../base/durable-disk.ts';
import * as records from './records.ts';
import { boundCondemned, condemnedAtEnd, isBeyondBound, MAX_CONDEMNED_BYTES, refusedText } from './records.ts';
import { sameContent, storedContent } from '../checkpoint/payload.ts';
import { Journal, MAX_JOURNAL_BYTES } from './journal.ts';
import { Checkpoints } from './checkpoints.ts';
import {
  type CheckpointEntry,
  type CheckpointState,
  type CondemnedRecord,
  hintFor,
  isUnread,
  type JournalLine,
  type MetaName,
  type MetaRecord,
  onPath,
  type Problem,
  type RefusedRecord,
  type Store,
  StoreError,
  type TrialRecord,
} from './store.ts';
import { initializeStore, metaNames, sweepLeftovers, wrongFile } from './initialize.ts';
import { layout, type Layout } from './layout.ts';
import { parseSource, serializeSource } from './serialized.ts';
import { type Locked, RecordFiles, storeLock } from './record-files.ts';
import { verifyStore } from './checkpoint-files.ts';

export interface FsStoreParts {
  disk: Disk;
  locks: Locks;
  /** D, the dynamic config directory; absolute. The store is `D/store`. */
  root: string;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  /** A directory in memory (/run/dkc) that holds the condemnations while the disk is not writable. Absent: writing them fails then. */
  volatileDir?: string;
  /** Called once per damaged file that is set aside, for log and journal. */
  onDamage?: (path: string, problem: string) => void | Promise<void>;
  /** Longest wait for the store lock, in ms. @default 10_000 */
  lockWaitMs?: Millis;
}

/** Largest meta file, in bytes. One has some 200, and 1,300 with names and keys of maximum length. */
const META_LIMIT = 64 * 1024;

/** The store on a disk. The order of its writes is what makes a crash harmless; docs/store-format.md says how. */
export class FsStore implements Store {
  readonly paths: Layout;
  readonly #disk: Disk;
  readonly #locked: Locked;
  readonly #files: RecordFiles;
  readonly #checkpoints: Checkpoints;
  readonly #journal: Journal;
  readonly #volatile: string | undefined;

  constructor({ disk, locks, root, clock, volatileDir, onDamage = () => undefined, lockWaitMs = 10_000 }: FsStoreParts) {
    this.paths = layout(root);
    this.#disk = disk;
    this.#volatile = volatileDir === undefined ? undefined : join(volatileDir, 'condemned.json');
    this.#locked = storeLock(locks, this.paths.storeLock, lockWaitMs);
    this.#files = new RecordFiles({ disk, clock, locked: this.#locked, onDamage });
    const path = this.paths.journal;
    const readEnd = () =>
      this.#files.read(
        path,
        (bytes) => ({ ok: true, value: bytes }),
        () => disk.readEnd(path, MAX_JOURNAL_BYTES),
      );
    this.#journal = new Journal({ disk, path, locked: this.#locked, readEnd });
    this.#checkpoints = new Checkpoints({ disk, paths: this.paths, clock, locked: this.#locked });
  }

  initialize(): Promise<boolean> {
    return initializeStore(this.#disk, this.paths, this.#locked);
  }

  sweep(): Promise<string[]> {
    return sweepLeftovers(this.#disk, this.paths, this.#locked);
  }

  verify(): Promise<Problem[]> {
    return verifyStore(this.#disk, this.paths, this);
  }

  locked<T>(change: () => Promise<T>): Promise<T> {
    return this.#locked(change);
  }

  async record(name: MetaName): Promise<MetaRecord> {
    const path = this.paths.meta(name);
    const damaged = (problem: string): MetaRecord => ({ at: 'damaged', path, problem });
    try {
      const there = await this.#disk.stat(path);
      if (!there) return { at: 'missing' };
      const wrong = wrongFile(path, there);
      if (wrong !== undefined) return damaged(wrong);
      const parsed = parseSource(await this.#disk.read(path, META_LIMIT));
      if (!parsed.ok) return damaged(parsed.problem);
      if (parsed.source === null) return { at: 'known', source: null };
      // The source becomes a path, and part of a status that the API server rejects as a whole when one field is invalid.
      const problems = sourceProblems(parsed.source);
      return problems.length > 0 ? damaged(problems.join('; ')) : { at: 'known', source: parsed.source };
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return { at: 'missing' };
      if (isUnread(error)) return { at: 'damaged', path, problem: hintFor(error), isUnread: true };
      return damaged(error instanceof RangeError ? 'it is too large to be a record' : hintFor(error));
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
    await this.#files.set(path, serializeSource(source));
  }

  async setAside(path: string): Promise<void> {
    const { trial, condemned, refused, journal } = this.paths;
    if (![...metaNames.map((name) => this.paths.meta(name)), trial, condemned, refused, journal].includes(path)) {
      throw new StoreError('set aside', path, { hint: 'it is not a record of this store' });
    }
    await this.#files.setAside(path);
  }

  load(ref: PayloadRef, adopt?: Pick<Source, 'namespace' | 'name'>): Promise<CheckpointState> {
    return this.#checkpoints.load(ref, adopt);
  }

  save(payload: Payload): Promise<void> {
    return this.#checkpoints.save(payload);
  }

  list(): Promise<CheckpointEntry[]> {
    return this.#checkpoints.list();
  }

  removeCheckpoint(ref: PayloadRef): Promise<void> {
    return this.#checkpoints.remove(ref, async () => {
      for (const name of metaNames) {
        const record = await this.record(name);
        if (record.at === 'damaged' && record.isUnread) throw new StoreError('read', record.path, { hint: record.problem });
        if (record.at === 'known' && record.source && samePayload(record.source, ref)) return name;
      }
      return undefined;
    });
  }

  trial(): Promise<TrialRecord | undefined> {
    return this.#files.read(this.paths.trial, records.parseTrial);
  }

  setTrial(trial: TrialRecord | undefined): Promise<void> {
    return this.#files.set(this.paths.trial, trial && records.trialText(trial));
  }

  async condemned(): Promise<readonly CondemnedRecord[]> {
    return (await this.#unwritten()) ?? (await this.#condemnedOnDisk());
  }

  async setCondemned(condemned: readonly CondemnedRecord[]): Promise<void> {
    const bytes = new TextEncoder().encode(records.condemnedText(await this.#bounded(condemned)));
    const volatile = this.#volatile;
    try {
      await this.#locked(() => this.#files.replace(this.paths.condemned, bytes));
    } catch (error) {
      if (volatile === undefined) throw error;
      // From here on the file in memory takes precedence over the one on disk.
      const keep = async (): Promise<void> => {
        await this.#disk.makeDir(dirname(volatile), 0o700);
        await this.#disk.replace(volatile, bytes);
      };
      await onPath('write', volatile, keep).catch(() => {
        throw error;
      });
      return;
    }
    if (volatile !== undefined && (await this.#disk.stat(volatile).catch(() => undefined))) await this.#disk.remove(volatile);
  }

  async settleCondemned(): Promise<boolean> {
    if (!(await this.#unwritten())) return true;
    const added = await this.locked(async () => {
      const now = await this.condemned();
      const before = await this.#condemnedOnDisk();
      await this.setCondemned(now);
      return now.filter((record) => !before.some((old) => old.at === record.at && old.contentSha256 === record.contentSha256));
    });
    if (await this.#unwritten()) return false;
    for (const { at, reason, namespace, name, uid, resourceVersion, kubeletConfigKey } of added) {
      const source = { namespace, name, uid, resourceVersion, kubeletConfigKey };
      await this.addToJournal({ at, event: 'condemned', source, detail: reason });
    }
    return true;
  }

  /** Of a file that is too large, only the newest records: the file is cut to them, and the cut is reported, since other condemnations are lost. */
  async #condemnedOnDisk(): Promise<readonly CondemnedRecord[]> {
    const path = this.paths.condemned;
    const isTooLarge = async (): Promise<boolean> => ((await this.#disk.stat(path).catch(() => undefined))?.bytes ?? 0) > defaultReadLimit;
    if (!(await isTooLarge())) return (await this.#files.read(path, records.parseCondemned)) ?? [];
    const newest = condemnedAtEnd(await this.#disk.readEnd(path, MAX_CONDEMNED_BYTES));
    const cut = this.#locked(async () => {
      if (await isTooLarge()) await this.setCondemned(newest);
    });
    await cut.catch(() => undefined); // a disk that is not writable keeps the file; the records that were read are valid
    await this.#files.reportOnce(path, `it is too large: only the newest ${newest.length} condemnations in it count, and are kept`);
    return newest;
  }

  async #bounded(condemned: readonly CondemnedRecord[]): Promise<readonly CondemnedRecord[]> {
    if (!isBeyondBound(condemned)) return condemned;
    const needed: ContentRef[] = [];
    for (const name of metaNames) {
      const record = await this.record(name);
      const content = record.at === 'known' ? await storedContent(this, record.source) : undefined;
      if (content) needed.push(content);
    }
    return boundCondemned(condemned, (record) => needed.some((content) => sameContent(record, content)));
  }

  /** The condemnations that are only in memory; undefined where all are on disk. */
  async #unwritten(): Promise<readonly CondemnedRecord[] | undefined> {
    return this.#volatile === undefined ? undefined : this.#files.readIfIntact(this.#volatile, records.parseCondemned);
  }

  refused(): Promise<RefusedRecord | undefined> {
    return this.#files.read(this.paths.refused, records.parseRefused);
  }

  setRefused(refused: RefusedRecord | undefined): Promise<void> {
    return this.#files.set(this.paths.refused, refused && refusedText(refused));
  }

  journal(): Promise<JournalLine[]> {
    return this.#journal.lines();
  }

  addToJournal(line: JournalLine): Promise<void> {
    return this.#journal.add(line);
  }
}
