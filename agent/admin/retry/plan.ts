import type { AdminFacts } from '../facts.ts';
import { findRef } from '../refs.ts';
import { samePayload } from '../../checkpoint/source.ts';
import { contentRef, sameContent } from '../../store/content.ts';
import type { CondemnedRecord, JournalLine } from '../../store/store.ts';

export type RetryPlan =
  { at: 'refused'; why: string } | { at: 'planned'; cleared: readonly CondemnedRecord[]; journal: readonly JournalLine[] };

/** Which condemnations to take back: all, or those that hit the checkpoint `ref`, which may be gone from the store. */
export function planRetry(facts: AdminFacts, asked: { ref?: string; at: string }): RetryPlan {
  const { ref } = asked;
  if (ref === undefined) return clear(facts.condemned, asked.at);
  const found = findRef(ref, facts, facts.condemned);
  if (found.at === 'local') return { at: 'refused', why: `${ref} stands for the local config, which is never condemned` };
  if (found.at !== 'found') return { at: 'refused', why: `${ref}: ${found.why}` };
  const manifest = facts.entries.find((entry) => samePayload(entry.ref, found.ref))?.manifest;
  const cleared = facts.condemned.filter(
    (record) =>
      (found.key === undefined || found.key === record.kubeletConfigKey) &&
      (samePayload(record, found.ref) || (manifest && sameContent(record, contentRef(manifest.files, record.kubeletConfigKey)))),
  );
  return clear(cleared, asked.at);
}

function clear(cleared: readonly CondemnedRecord[], at: string): RetryPlan {
  const journal = cleared.map((record): JournalLine => {
    const { namespace, name, uid, resourceVersion, kubeletConfigKey } = record;
    const source = { namespace, name, uid, resourceVersion, kubeletConfigKey };
    return { at, event: 'retried', source, detail: `condemned by ${record.by} at ${record.at}: ${record.reason}` };
  });
  return { at: 'planned', cleared, journal };
}
