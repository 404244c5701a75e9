import { type MaybeSource, samePayload, type Source } from '../checkpoint/source.ts';
import type { Drift } from '../drift/plan.ts';
import { type ActiveRecord, asOf, type Notice, type ReadActive } from '../store/active-record.ts';
import type { RefusedRecord } from '../store/store.ts';
import type { CheckpointEntry, CondemnedRecord, JournalLine, MetaRecord, Problem, TrialRecord } from '../store/store.ts';
import { statusErrors } from '../status/node-config-state.ts';
import { contentRef, sameContent } from '../checkpoint/payload.ts';

/** The state of a node's disk, read once; every admin command decides from this. */
export interface AdminFacts {
  assigned: MetaRecord;
  lastKnownGood: MetaRecord;
  /** undefined: no agent has written the record yet. */
  active: ReadActive | undefined;
  trial: TrialRecord | undefined;
  condemned: readonly CondemnedRecord[];
  /** The config that preflight rejects now. */
  refused: RefusedRecord | undefined;
  /** Oldest first. */
  journal: readonly JournalLine[];
  /** The last fallback, as far as reading the file shows. */
  local: { path: string; at: 'present' } | { path: string; at: 'missing' } | { path: string; at: 'broken'; problem: string };
  /** Newest first. */
  entries: readonly CheckpointEntry[];
  /** sha256 and text are '' when there is no effective file. */
  effective: { path: string; sha256: string; text: string };
  /** Everything that is damaged: meta files first, then checkpoints. Reported, and left as it is. */
  problems: readonly Problem[];
}

/** null also where the record is missing or damaged: use {@link isKnown} where the difference matters. */
export function recorded(record: MetaRecord): MaybeSource {
  return record.at === 'known' ? record.source : null;
}

export function isKnown(record: MetaRecord): boolean {
  return record.at === 'known';
}

export interface ActiveView extends Pick<ActiveRecord, 'used' | 'source' | 'error' | 'carrier' | 'why'> {
  /** RFC 3339; undefined when derived from the records. */
  since?: string;
  /**
   * `agent`: from active.json. `changed`: from active.json, but the effective file has changed since, by another program or by an agent that is just
   * starting. `records`: there is no active.json; derived from the records as boot would.
   */
  from: 'agent' | 'changed' | 'records';
  /** Current problems of the agent; empty where it has recorded none. */
  notices: readonly Notice[];
  /** The drift that the agent reported last. */
  drift: readonly Drift[];
}

/** What this node runs, from disk alone. */
export function viewActive(facts: AdminFacts): ActiveView {
  if (facts.active?.ok) {
    const record = asOf(facts.active.record, facts.effective.sha256);
    const { used, source, carrier, why, at, effectiveSha256, notices = [], drift = [] } = record;
    // A condemnation is on disk before the agent applies it.
    const error = verdictOn(recorded(facts.assigned), facts) ?? record.error;
    const from = effectiveSha256 === facts.effective.sha256 ? 'agent' : 'changed';
    return { used, source, error, carrier, why, since: at, from, notices, drift };
  }
  const { used, source, error } = fallBack(facts);
  return { used, source, error, carrier: null, why: 'the agent has not recorded what it uses', from: 'records', notices: [], drift: [] };
}

/** The config that boot would use by the records alone: decoding, policy and validation are not checked. */
export function fallBack(facts: AdminFacts): Pick<ActiveRecord, 'used' | 'source' | 'error'> {
  const assigned = recorded(facts.assigned);
  if (facts.assigned.at === 'known' && assigned === null) return { used: 'local', source: null, error: null };
  const against = assigned === null ? statusErrors.internal : obstacle(assigned, facts);
  if (assigned !== null && against === null) return { used: 'assigned', source: assigned, error: null };
  const trusted = recorded(facts.lastKnownGood);
  if (trusted !== null && obstacle(trusted, facts) === null) return { used: 'last-known-good', source: trusted, error: against };
  return { used: 'local', source: null, error: against };
}

/** The status string for why `source` cannot be used; null when the store shows no reason. */
function obstacle(source: Source, facts: AdminFacts): string | null {
  const entry = facts.entries.find((one) => samePayload(one.ref, source));
  if (!entry?.manifest || entry.state === 'damaged') return statusErrors.load;
  const verdict = verdictOn(source, facts);
  if (verdict) return verdict;
  return entry.manifest.files.some((file) => file.key === source.kubeletConfigKey) ? null : statusErrors.load;
}

/** The status string of the condemnation of `source`. */
function verdictOn(source: MaybeSource, facts: AdminFacts): string | undefined {
  const manifest = source && facts.entries.find((one) => samePayload(one.ref, source))?.manifest;
  if (!source || !manifest) return undefined;
  const content = contentRef(manifest.files, source.kubeletConfigKey);
  const record = facts.condemned.find((record) => sameContent(record, content));
  return record && (record.by === 'admin' ? statusErrors.rolledBack : statusErrors.failedTrial);
}
