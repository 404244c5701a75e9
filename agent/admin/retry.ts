import { type AdminFacts, isKnown, recorded } from './facts.ts';
import { findRef } from './refs.ts';
import { sourceOf } from './roles.ts';
import { type PayloadRef, samePayload, type Source, sourceText } from '../checkpoint/source.ts';
import { contentRef, sameContent } from '../checkpoint/payload.ts';
import type { CondemnedRecord, JournalLine } from '../store/store.ts';

export interface RetryOptions {
  /** Absent: the assigned config. */
  ref?: string;
  /** All condemnations; `ref` is ignored then. */
  all?: boolean;
  /** RFC 3339: goes into the journal. */
  at: string;
}

export type RetryPlan =
  | { at: 'refused'; why: string }
  /** `notes`: what is cleared, or why nothing is. */
  | { at: 'planned'; cleared: readonly CondemnedRecord[]; journal: readonly JournalLine[]; notes: readonly string[] };

/** Most condemned configs that a line names. */
const MAX_NAMED = 3;

/** Which condemnations to clear: those of the assigned config, of `ref`, whose checkpoint need not be in the store, or all. */
export function planRetry(facts: AdminFacts, { ref = 'assigned', all = false, at }: RetryOptions): RetryPlan {
  const { condemned } = facts;
  if (condemned.length === 0 && (all || ref === 'assigned')) return nothing('Nothing to retry: no condemned configs');
  if (all) return clear(condemned, at);
  const others = `condemned: ${named(condemned)}`;
  if (ref === 'assigned' && isKnown(facts.assigned) && recorded(facts.assigned) === null)
    return nothing(`Nothing to retry: nothing is assigned; name one with REF, or use --all (${others})`);
  const found = findRef(ref, facts, condemned);
  if (found.at === 'local') return { at: 'refused', why: `the ${ref} config is the local config, which is never condemned` };
  if (found.at !== 'found') return { at: 'refused', why: `${ref}: ${found.why}` };
  const manifest = facts.entries.find((entry) => samePayload(entry.ref, found.ref))?.manifest;
  const key = found.key ?? found.source?.kubeletConfigKey;
  const cleared = condemned.filter(
    (record) =>
      (key === undefined || key === record.kubeletConfigKey) &&
      (samePayload(record, found.ref) || (manifest && sameContent(record, contentRef(manifest.files, record.kubeletConfigKey)))),
  );
  if (cleared.length > 0) return clear(cleared, at);
  const name = nameOf(found.ref, found.source ?? null, found.key, facts);
  return nothing(`${name} is not condemned${condemned.length > 0 ? ` (${others})` : ''}`);
}

const nothing = (note: string): RetryPlan => ({ at: 'planned', cleared: [], journal: [], notes: [note] });

function clear(cleared: readonly CondemnedRecord[], at: string): RetryPlan {
  const journal = cleared.map((record): JournalLine => {
    const { namespace, name, uid, resourceVersion, kubeletConfigKey } = record;
    const source = { namespace, name, uid, resourceVersion, kubeletConfigKey };
    return { at, event: 'retried', source, detail: `condemned by ${record.by} at ${record.at}: ${record.reason}` };
  });
  const more = cleared.length > MAX_NAMED ? [`and ${cleared.length - MAX_NAMED} more`] : [];
  const notes = [...cleared.slice(0, MAX_NAMED).map((record) => `${sourceText(record)} is no longer condemned`), ...more];
  return { at: 'planned', cleared, journal, notes };
}

/** Newest first. */
function named(condemned: readonly CondemnedRecord[]): string {
  const shown = condemned.toReversed().slice(0, MAX_NAMED).map(sourceText).join(', ');
  return condemned.length > MAX_NAMED ? `${shown}, and ${condemned.length - MAX_NAMED} more` : shown;
}

function nameOf(ref: PayloadRef, source: Source | null, key: string | undefined, facts: AdminFacts): string {
  const entry = facts.entries.find((one) => samePayload(one.ref, ref));
  const known = source ?? (entry ? sourceOf(entry, facts) : null);
  if (!known) return `${ref.uid}/${ref.resourceVersion}`;
  return sourceText(key === undefined ? known : { ...known, kubeletConfigKey: key });
}
