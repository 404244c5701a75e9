import type { Checkpoint, ContentRef, Manifest, MaybeSource, Payload, PayloadRef, Source } from '../checkpoint/source.ts';
import type { Finding } from '../config/contract.ts';
import { describeError, errorCode, PERMISSION_DENIED } from '../../base/errors.ts';

/**
 * What a meta file says. `missing` is not `none`: in a store that exists a missing `assigned` means unknown (design Q5), and
 * `damaged` cannot be used; `setAside` turns it into missing. `isUnread`: the disk did not give it, so it may be as good as ever and stays in its place.
 */
export type MetaRecord =
  { at: 'known'; source: MaybeSource } | { at: 'missing' } | { at: 'damaged'; path: string; problem: string; isUnread?: true };

export type MetaName = 'assigned' | 'last-known-good';

/** `store/meta/trial.json`: survives agent restarts, so that an hour of restarts is still one trial. */
export interface TrialRecord extends ContentRef {
  source: Source;
  /** RFC 3339, UTC; for people, and to tell what a Node said before from what it says since. */
  assignedAt: string;
  /** Milliseconds of kubelet health under this content so far, since its last exit. */
  healthyMs: number;
  /** Milliseconds without health on end, while the kubelet's unit was active. */
  unhealthyMs?: number;
  /** Milliseconds of health that the agent of this trial asks for. */
  needMs?: number;
  /** Ends of the kubelet under this content in this boot that count against it. */
  exits: number;
  /** The newest of them, as the condemnation will show them. Absent = none. */
  evidence?: readonly string[];
  /** Boots of the machine under this content that no clean stop went before; kept over boots. Absent = 0. */
  uncleanBoots?: number;
  /** Lines of the exits file that are already counted (byte offset), so that a restart of the agent counts none twice. */
  exitsOffset: number;
  /** Kernel boot id: another boot resets the counts of exits. */
  bootId: string;
}

/** One entry of `store/meta/condemned.json`. Matching is by kubeletConfigKey and content. */
export interface CondemnedRecord extends ContentRef {
  uid: string;
  resourceVersion: string;
  namespace: string;
  name: string;
  reason: string;
  evidence: readonly string[];
  by: 'agent' | 'admin';
  /** RFC 3339, UTC. */
  at: string;
  /** Value of the annotation dkc.dev/retry when it was condemned ('' when absent): a new value clears the record. */
  retry: string;
}

/**
 * `store/meta/refused.json`: the config that this node is to use and that preflight refuses. It reports, so that `dkc status` can say which one
 * and why; nothing is decided by it. Removed when an assignment is accepted, or another one comes.
 */
export interface RefusedRecord extends ContentRef {
  source: Source;
  /** RFC 3339, UTC: since when this content is refused for these reasons. */
  at: string;
  /** As in `status.config.error`. */
  error: string;
  /** Fields, rules and messages, never values. At most MAX_FINDINGS of config/contract.ts. */
  findings: readonly Finding[];
  /** How many findings more there were. */
  more: number;
}

export type Refusal = Omit<RefusedRecord, 'findings' | 'more'>;

export const journalEvents = [
  'booted',
  'assigned',
  'refused',
  'promoted',
  'condemned',
  'retried',
  'rolled-back',
  'reset',
  'damaged',
] as const;
export type JournalEvent = (typeof journalEvents)[number];
export interface JournalLine {
  /** RFC 3339, UTC. */
  at: string;
  event: JournalEvent;
  source: MaybeSource;
  detail: string;
}

/** What is found where a checkpoint should be. */
export type CheckpointState =
  { at: 'intact'; checkpoint: Checkpoint } | { at: 'missing' } | { at: 'damaged'; path: string; problem: string };

/** A line of `dkc checkpoints list`. */
export interface CheckpointEntry {
  ref: PayloadRef;
  state: 'intact' | 'damaged';
  /** Absent when the manifest is unreadable. */
  manifest?: Manifest;
  problem?: string;
}

export interface Problem {
  path: string;
  problem: string;
  /** It is not damaged, but kept from the agent; an administrator's command reads it all the same. */
  isInaccessible?: true;
}

/**
 * The checkpoint store of one node: `D/store`. Reading takes no lock; every change takes the store lock for as long as it lasts.
 * Everything a change reports done is on disk. Errors: {@link StoreError}.
 */
export interface Store {
  /** Creates what is missing, leaves what exists. @returns true where the store was not there before. @throws StoreError on wrong types, a full or read-only disk */
  initialize(): Promise<boolean>;
  /** Removes temporary leftovers, ours and upstream's (design Q4). @returns removed paths */
  sweep(): Promise<string[]>;

  record(name: MetaName): Promise<MetaRecord>;
  /** Equal content is never rewritten (design Q8). null writes 0 bytes. @throws StoreError when uid or resourceVersion is empty */
  setRecord(name: MetaName, source: MaybeSource): Promise<void>;
  /** Renames a damaged meta file (any of ours too) to `NAME.damaged-TIME` and leaves it missing. */
  setAside(path: string): Promise<void>;

  /** Reads and verifies. A checkpoint without a manifest (upstream's) is read, and gets one when `adopt` is given (its source's namespace and name). */
  load(ref: PayloadRef, adopt?: Pick<Source, 'namespace' | 'name'>): Promise<CheckpointState>;
  /** Writes the whole checkpoint; replaces a damaged one; leaves an intact one of the same content alone. @throws StoreError on hostile keys or uids */
  save(payload: Payload): Promise<void>;
  /** Newest first (savedAt, then name). */
  list(): Promise<CheckpointEntry[]>;
  removeCheckpoint(ref: PayloadRef): Promise<void>;

  /** undefined when there is none. A damaged file is set aside, reported through `onDamage`, and reads as none. */
  trial(): Promise<TrialRecord | undefined>;
  setTrial(trial: TrialRecord | undefined): Promise<void>;
  condemned(): Promise<readonly CondemnedRecord[]>;
  /** On a disk that takes no writes they are kept in memory (/run) until {@link Store.settleCondemned}, or the machine goes down. */
  setCondemned(records: readonly CondemnedRecord[]): Promise<void>;
  /** Writes down, and journals, what is kept in memory only. @returns whether nothing is left there. @throws StoreError, LockError */
  settleCondemned(): Promise<boolean>;
  /** What preflight refuses now; undefined when nothing. A damaged file reads as {@link Store.trial} says. */
  refused(): Promise<RefusedRecord | undefined>;
  setRefused(refused: RefusedRecord | undefined): Promise<void>;

  /** Oldest first; unreadable lines are skipped. */
  journal(): Promise<JournalLine[]>;
  /** Appends; at most 1,000 lines are kept. */
  addToJournal(line: JournalLine): Promise<void>;

  /** Everything wrong with manifests and meta files, changes nothing. */
  verify(): Promise<Problem[]>;

  /** Runs `change` under the store lock (re-entrant within): read-modify-write by agent and admin at once loses nothing. @throws LockError after `waitMs` (default 10,000) */
  locked<T>(change: (store: Store) => Promise<T>): Promise<T>;
}

/** A failure of the store, on `path`. The status of the Node says only `internal failure`; this goes to log and journal. */
export class StoreError extends Error {
  override name = 'StoreError';
  readonly path: string;
  constructor(action: string, path: string, why: { hint: string; cause?: unknown }) {
    super(`Cannot ${action} ${path}: ${why.hint}`, 'cause' in why ? { cause: why.cause } : {});
    this.path = path;
  }
}

const hints: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room on it (df -h), or free inodes (df -i)',
  EDQUOT: 'the disk quota is used up: make room',
  EROFS: 'its file system is read-only: find out why in the kernel log, then remount it writable',
  EACCES: PERMISSION_DENIED,
  EPERM: 'not permitted: run this as root, and look for an immutable attribute',
  EIO: 'the disk failed: see the kernel log',
  ESTALE: 'stale file handle: remount its network file system',
  EUCLEAN: 'its file system is damaged: check it with fsck',
  EBADMSG: 'its file system is damaged: check it with fsck',
  ENOENT: 'the file or its directory does not exist: start the agent once to create the store',
  ENOTDIR: 'a part of its path is not a directory: move that away',
  EISDIR: 'a directory is in its place: move that away',
  EINVAL: 'something that is not a regular file is in its place: move that away',
  ELOOP: 'a symbolic link is in its place: move that away',
};

/** Something else lies in the place of the file: an error that says what is there, not that the disk fails. */
const MISPLACED: ReadonlySet<string | undefined> = new Set(['EISDIR', 'EINVAL', 'ELOOP', 'ENOTDIR']);

/** Whether a file could not be read, rather than read and not understood: EIO, ESTALE, EMFILE, ... */
export const isUnread = (error: unknown): boolean => {
  const code = errorCode(error);
  return code !== undefined && !MISPLACED.has(code);
};

/** What a disk error means to the person who has to fix it. */
export function hintFor(error: unknown): string {
  return hints[errorCode(error) ?? ''] ?? describeError(error);
}

/** Does `act`; what the disk throws comes out as a StoreError about `path`. */
export async function onPath<T>(action: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw new StoreError(action, path, { hint: hintFor(cause), cause });
  }
}
