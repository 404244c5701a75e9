import type { MaybeSource } from '../checkpoint/source.ts';
import type { ReadActive } from '../store/active-record.ts';
import type { RefusedRecord } from '../store/refused-record.ts';
import type { CheckpointEntry, CondemnedRecord, JournalLine, MetaRecord, Problem, TrialRecord } from '../store/store.ts';

/** What a node's disk says, read once; every admin command decides from this. */
export interface AdminFacts {
  assigned: MetaRecord;
  lastKnownGood: MetaRecord;
  /** undefined: no agent has written it yet. */
  active: ReadActive | undefined;
  trial: TrialRecord | undefined;
  condemned: readonly CondemnedRecord[];
  /** What preflight refuses now. */
  refused: RefusedRecord | undefined;
  /** Oldest first. */
  journal: readonly JournalLine[];
  /** The fallback of last resort, as far as a look at the file tells. */
  local: { path: string; at: 'present' } | { path: string; at: 'missing' } | { path: string; at: 'broken'; problem: string };
  /** Newest first. */
  entries: readonly CheckpointEntry[];
  /** sha256 and text are '' when there is no effective file. */
  effective: { path: string; sha256: string; text: string };
  /** Whatever is damaged: meta files first, then checkpoints. Shown, never hidden, and left as it is. */
  problems: readonly Problem[];
}

/** null also where the record is missing or damaged: ask {@link isKnown} where the difference matters. */
export function recorded(record: MetaRecord): MaybeSource {
  return record.at === 'known' ? record.source : null;
}

export function isKnown(record: MetaRecord): boolean {
  return record.at === 'known';
}
