import type { Checkpoint, ContentRef, Manifest, MaybeSource, Payload, PayloadRef, Source } from '../checkpoint/source.ts';
import type { Finding } from '../config/contract.ts';
import { describeError, errorCode, PERMISSION_DENIED } from '../../base/errors.ts';

/**
 * The value of a meta file. `missing` is not `none`: in a store that exists, a missing `assigned` means unknown. A `damaged` file cannot be
 * used; `setAside` makes it missing. `isUnread`: reading failed, so the file may be intact and stays in its place.
 */
export type MetaRecord =
  { at: 'known'; source: MaybeSource } | { at: 'missing' } | { at: 'damaged'; path: string; problem: string; isUnread?: true };

export type MetaName = 'assigned' | 'last-known-good';

/** `store/meta/trial.json`: survives agent restarts, so that an hour of restarts is still one trial. */
export interface TrialRecord extends ContentRef {
  source: Source;
  /** RFC 3339, UTC; for people, and to compare with the times of the Node's conditions and pods. */
  assignedAt: string;
  /** Milliseconds of kubelet health under this content so far, since its last exit. */
  healthyMs: number;
  /** Milliseconds of continuous unhealthy time while the kubelet's unit was active. */
  unhealthyMs?: number;
  /** Milliseconds of health that the trial requires (--trial-duration). */
  needMs?: number;
  /** Kubelet exits under this content in this boot that count against it. */
  exits: number;
  /** The newest of these exits, as text for the condemnation. Absent = none. */
  evidence?: readonly string[];
  /** Boots of the machine after an unclean stop under this content; kept over boots. Absent = 0. */
  uncleanBoots?: number;
  /** Byte offset in the exits file up to which exits are counted, so that a restart of the agent counts none twice. */
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
 * `store/meta/refused.json`: the config that is assigned to this node and that preflight rejects. A report for `dkc status`; with the
 * journal it prevents a second event after a restart. Which config the node uses does not depend on it. Removed when the config is accepted or another
 * one is assigned.
 */
export interface RefusedRecord extends ContentRef {
  source: Source;
  /** RFC 3339, UTC: since when this content is rejected for these reasons. */
  at: string;
  /** As in `status.config.error`. */
  error: string;
  /** Fields, rules and messages, never values. At most MAX_FINDINGS of config/contract.ts. */
  findings: readonly Finding[];
  /** How many more findings there were. */
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

/** The state of a checkpoint on disk. */
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
  /** The file is not damaged, but the agent has no permission to use it; a command run as root can read it. */
  isInaccessible?: true;
}

/**
 * The checkpoint store of one node: `D/store`. Reads take no lock; every change holds the store lock. When a change resolves, it is synced to disk.
 * Errors: {@link StoreError}.
 */
export interface Store {
  /** Creates missing directories and records. @returns true where no store existed. @throws StoreError on a wrong file type, a full or read-only disk */
  initialize(): Promise<boolean>;
  /** Removes temporary leftovers, ours and upstream's. @returns removed paths */
  sweep(): Promise<string[]>;

  record(name: MetaName): Promise<MetaRecord>;
  /** Equal content is not rewritten: upstream takes the file's time for that of the assignment. null writes 0 bytes. @throws StoreError when uid or resourceVersion is empty */
  setRecord(name: MetaName, source: MaybeSource): Promise<void>;
  /** Renames a damaged record (`assigned`, `last-known-good` or a file of the agent's own) to `NAME.damaged-TIME`, so that it is missing. */
  setAside(path: string): Promise<void>;

  /** Reads and verifies a checkpoint. One without a manifest (upstream's) gets one where `adopt` gives its source's namespace and name. */
  load(ref: PayloadRef, adopt?: Pick<Source, 'namespace' | 'name'>): Promise<CheckpointState>;
  /** Writes the whole checkpoint; replaces a damaged one; keeps an intact one of the same content. @throws StoreError on hostile keys or uids */
  save(payload: Payload): Promise<void>;
  /** Newest first (savedAt, then name). */
  list(): Promise<CheckpointEntry[]>;
  removeCheckpoint(ref: PayloadRef): Promise<void>;

  /** undefined when no trial is recorded. A damaged file is set aside, reported through `onDamage`, and reads as missing. */
  trial(): Promise<TrialRecord | undefined>;
  setTrial(trial: TrialRecord | undefined): Promise<void>;
  condemned(): Promise<readonly CondemnedRecord[]>;
  /** While the disk is not writable the records are kept in memory (/run) until {@link Store.settleCondemned} or a reboot. */
  setCondemned(records: readonly CondemnedRecord[]): Promise<void>;
  /** Writes condemnations that are only in memory to disk and journal. @returns whether none is left in memory. @throws StoreError, LockError */
  settleCondemned(): Promise<boolean>;
  /** The config that preflight rejects now; undefined when none. For a damaged file see {@link Store.trial}. */
  refused(): Promise<RefusedRecord | undefined>;
  setRefused(refused: RefusedRecord | undefined): Promise<void>;

  /** Oldest first; unreadable lines are skipped. */
  journal(): Promise<JournalLine[]>;
  /** Appends; at most 1,000 lines are kept. */
  addToJournal(line: JournalLine): Promise<void>;

  /** All problems of checkpoints and records; changes nothing. */
  verify(): Promise<Problem[]>;

  /** Runs `change` under the store lock (re-entrant), for read-modify-write by agent and admin. @throws LockError after `waitMs` (default 10,000) */
  locked<T>(change: () => Promise<T>): Promise<T>;
}

/** A failure of the store on `path`. The Node's status reports only `internal failure`; log and journal get this text. */
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

/** Error codes for something else in the place of the file: the disk itself works. */
const MISPLACED: ReadonlySet<string | undefined> = new Set(['EISDIR', 'EINVAL', 'ELOOP', 'ENOTDIR']);

/** Whether reading the file failed (EIO, ESTALE, EMFILE, ...), so that its content is unknown rather than damaged. */
export const isUnread = (error: unknown): boolean => {
  const code = errorCode(error);
  return code !== undefined && !MISPLACED.has(code);
};

/** The fix for a disk error, for people; else the text of the error. */
export function hintFor(error: unknown): string {
  return hints[errorCode(error) ?? ''] ?? describeError(error);
}

/** Runs `act`; rethrows a disk error as a StoreError about `path`. */
export async function onPath<T>(action: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw new StoreError(action, path, { hint: hintFor(cause), cause });
  }
}
