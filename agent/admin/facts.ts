import { type MaybeSource, samePayload, type Source } from '../checkpoint/source.ts';
import type { Drift } from '../drift/plan.ts';
import { type ActiveRecord, asOf, type Notice, type ReadActive } from '../store/active-record.ts';
import type { RefusedRecord } from '../store/store.ts';
import type { CheckpointEntry, CondemnedRecord, JournalLine, MetaRecord, Problem, TrialRecord } from '../store/store.ts';
import { statusErrors } from '../status/node-config-state.ts';
import { contentRef, sameContent } from '../checkpoint/payload.ts';

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

export interface ActiveView extends Pick<ActiveRecord, 'used' | 'source' | 'error' | 'carrier' | 'why'> {
  /** RFC 3339; undefined when it was worked out. */
  since?: string;
  /**
   * `agent`: as the agent wrote it down. `changed`: so too, but the effective file has changed since, by another hand or by an
   * agent that is just starting. `records`: no agent has written it down; worked out from the records as boot would.
   */
  from: 'agent' | 'changed' | 'records';
  /** What the agent lacks or cannot do; empty where it has not said so. */
  notices: readonly Notice[];
  /** In what the node runs something else than the agent wrote, as it reported last. */
  drift: readonly Drift[];
}

/** What this node runs, from disk alone. */
export function viewActive(facts: AdminFacts): ActiveView {
  if (facts.active?.ok) {
    const record = asOf(facts.active.record, facts.effective.sha256);
    const { used, source, carrier, why, at, effectiveSha256, notices = [], drift = [] } = record;
    // A condemnation is on disk before the agent has followed it.
    const error = verdictOn(recorded(facts.assigned), facts) ?? record.error;
    const from = effectiveSha256 === facts.effective.sha256 ? 'agent' : 'changed';
    return { used, source, error, carrier, why, since: at, from, notices, drift };
  }
  const { used, source, error } = fallBack(facts);
  return { used, source, error, carrier: null, why: 'the agent has not recorded what it uses', from: 'records', notices: [], drift: [] };
}

/** Where boot would arrive by the records: which config passes decoding, policy and validation is not checked here. */
export function fallBack(facts: AdminFacts): Pick<ActiveRecord, 'used' | 'source' | 'error'> {
  const assigned = recorded(facts.assigned);
  if (facts.assigned.at === 'known' && assigned === null) return { used: 'local', source: null, error: null };
  const against = assigned === null ? statusErrors.internal : obstacle(assigned, facts);
  if (assigned !== null && against === null) return { used: 'assigned', source: assigned, error: null };
  const trusted = recorded(facts.lastKnownGood);
  if (trusted !== null && obstacle(trusted, facts) === null) return { used: 'last-known-good', source: trusted, error: against };
  return { used: 'local', source: null, error: against };
}

/** The status string that says why `source` cannot be used, null when nothing in the store speaks against it. */
function obstacle(source: Source, facts: AdminFacts): string | null {
  const entry = facts.entries.find((one) => samePayload(one.ref, source));
  if (!entry?.manifest || entry.state === 'damaged') return statusErrors.load;
  const verdict = verdictOn(source, facts);
  if (verdict) return verdict;
  return entry.manifest.files.some((file) => file.key === source.kubeletConfigKey) ? null : statusErrors.load;
}

/** The status string of the condemnation that hits `source`. */
function verdictOn(source: MaybeSource, facts: AdminFacts): string | undefined {
  const manifest = source && facts.entries.find((one) => samePayload(one.ref, source))?.manifest;
  if (!source || !manifest) return undefined;
  const content = contentRef(manifest.files, source.kubeletConfigKey);
  const record = facts.condemned.find((record) => sameContent(record, content));
  return record && (record.by === 'admin' ? statusErrors.rolledBack : statusErrors.failedTrial);
}
