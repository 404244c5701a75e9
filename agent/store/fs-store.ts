import { basename, dirname, join } from 'node:path';
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
import { damagedName, layout, type Layout } from './layout.ts';
import { parseSource, serializeSource } from './serialized.ts';
import { type Locked, storeLock } from './store-lock.ts';
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
/** Damaged files kept per name, so that a disk that damages a file at every boot does not fill up. */
const DAMAGED_KEPT = 5;
/** A file that could not be read for this long, continuously, counts as damaged, in ms. */
const LOST_AFTER_MS: Millis = 60_000;

type Read<T> = records.Parsed<T | undefined> | { ok: false; problem: string; unread: unknown };

const textBytes = (text: string) => new TextEncoder().encode(text);

/** The store on a disk. The order of its writes is what makes a crash harmless; docs/store-format.md says how. */
export class FsStore implements Store {
  readonly paths: Layout;
  readonly #disk: Disk;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #onDamage: (path: string, problem: string) => void | Promise<void>;
  readonly #locked: Locked;
  readonly #checkpoints: Checkpoints;
  readonly #journal: Journal;
  readonly #reported = new Set<string>();
  readonly #unreadSince = new Map<string, Millis>();
  readonly #volatile: string | undefined;

  constructor({ disk, locks, root, clock, volatileDir, onDamage = () => undefined, lockWaitMs = 10_000 }: FsStoreParts) {
    this.paths = layout(root);
    this.#disk = disk;
    this.#clock = clock;
    this.#onDamage = onDamage;
    this.#volatile = volatileDir === undefined ? undefined : join(volatileDir, 'condemned.json');
    this.#locked = storeLock(locks, this.paths.storeLock, lockWaitMs);
    const path = this.paths.journal;
    const readEnd = () =>
      this.#readOwn(
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
    await this.#locked(() => this.#replaceIfOther(path, textBytes(serializeSource(source))));
  }

  async setAside(path: string): Promise<void> {
    const { trial, condemned, refused, journal } = this.paths;
    if (![...metaNames.map((name) => this.paths.meta(name)), trial, condemned, refused, journal].includes(path)) {
      throw new StoreError('set aside', path, { hint: 'it is not a record of this store' });
    }
    await this.#locked(() =>
      onPath('set aside', path, async () => {
        if (!(await this.#disk.stat(path))) return this.#disk.settle(path);
        let to = damagedName(path, this.#clock.now());
        for (let n = 2; await this.#disk.stat(to); n++) to = `${damagedName(path, this.#clock.now())}-${n}`;
        await this.#disk.rename(path, to);
        const dir = dirname(path);
        const older = (await this.#disk.list(dir)).filter((name) => name.startsWith(`${basename(path)}.damaged-`)).slice(0, -DAMAGED_KEPT);
        for (const name of older) await this.#disk.remove(join(dir, name));
      }),
    );
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
    return this.#readOwn(this.paths.trial, records.parseTrial);
  }

  setTrial(trial: TrialRecord | undefined): Promise<void> {
    return this.#replaceOrRemove(this.paths.trial, trial && records.trialText(trial));
  }

  async condemned(): Promise<readonly CondemnedRecord[]> {
    return (await this.#unwritten()) ?? (await this.#condemnedOnDisk());
  }

  async setCondemned(condemned: readonly CondemnedRecord[]): Promise<void> {
    const bytes = textBytes(records.condemnedText(await this.#bounded(condemned)));
    const volatile = this.#volatile;
    try {
      await this.#locked(() => this.#replaceIfOther(this.paths.condemned, bytes));
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
    if (!(await isTooLarge())) return (await this.#readOwn(path, records.parseCondemned)) ?? [];
    const newest = condemnedAtEnd(await this.#disk.readEnd(path, MAX_CONDEMNED_BYTES));
    const reportDamage = async (): Promise<void> => {
      if (this.#reported.has(path)) return;
      this.#reported.add(path);
      await this.#onDamage(path, `it is too large: only the newest ${newest.length} condemnations in it count, and are kept`);
    };
    const cut = this.#locked(async () => {
      if (await isTooLarge()) await this.setCondemned(newest);
    });
    await cut.catch(() => undefined); // a disk that is not writable keeps the file; the records that were read are valid
    await reportDamage();
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
    if (this.#volatile === undefined) return undefined;
    const path = this.#volatile;
    const read = await this.#parseOwn(() => this.#disk.read(path), records.parseCondemned);
    return read.ok ? read.value : undefined;
  }

  refused(): Promise<RefusedRecord | undefined> {
    return this.#readOwn(this.paths.refused, records.parseRefused);
  }

  setRefused(refused: RefusedRecord | undefined): Promise<void> {
    return this.#replaceOrRemove(this.paths.refused, refused && refusedText(refused));
  }

  journal(): Promise<JournalLine[]> {
    return this.#journal.lines();
  }

  addToJournal(line: JournalLine): Promise<void> {
    return this.#journal.add(line);
  }

  async #replaceOrRemove(path: string, text: string | undefined): Promise<void> {
    await this.#locked(async () => {
      if (text !== undefined) await this.#replaceIfOther(path, textBytes(text));
      else await onPath('remove', path, () => this.#disk.remove(path));
    });
  }

  /** Equal bytes are not rewritten but synced: their writer may have died before that. */
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
      return false; // missing, longer or unreadable: the following write reports what is wrong, if anything
    }
  }

  async #readOwn<T>(
    path: string,
    parse: (bytes: Uint8Array) => records.Parsed<T>,
    read = (): Promise<Uint8Array> => this.#disk.read(path),
  ): Promise<T | undefined> {
    const look = async (): Promise<Read<T>> => {
      const once = await this.#parseOwn(read, parse);
      return 'unread' in once ? this.#parseOwn(read, parse) : once;
    };
    const first = await look();
    if (!('unread' in first)) this.#unreadSince.delete(path);
    else if (!this.#isLost(path)) throw new StoreError('read', path, { hint: first.problem, cause: first.unread });
    if (first.ok) return first.value;
    try {
      // Read again under the lock: another process may have repaired the file.
      return await this.#locked(async () => {
        const again = await look();
        if (again.ok) return again.value;
        await this.setAside(path);
        await this.#onDamage(path, again.problem);
        return undefined;
      });
    } catch {
      // A disk that is not writable keeps the damaged file: it reads as missing and is reported once.
      const isFirst = !this.#reported.has(path);
      this.#reported.add(path);
      if (isFirst) await this.#onDamage(path, first.problem);
      return undefined;
    }
  }

  /** A file that cannot be read is set aside only after {@link LOST_AFTER_MS}: the disk may recover, and the node must not lose its records. */
  #isLost(path: string): boolean {
    const now = this.#clock.monotonic();
    const since = this.#unreadSince.get(path) ?? now;
    this.#unreadSince.set(path, since);
    return now - since >= LOST_AFTER_MS;
  }

  async #parseOwn<T>(read: () => Promise<Uint8Array>, parse: (bytes: Uint8Array) => records.Parsed<T>): Promise<Read<T>> {
    try {
      return parse(await read());
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return { ok: true, value: undefined };
      if (isUnread(error)) return { ok: false, problem: hintFor(error), unread: error };
      return { ok: false, problem: error instanceof RangeError ? 'it is too large' : hintFor(error) };
    }
  }
}
