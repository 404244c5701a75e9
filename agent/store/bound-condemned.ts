import type { CondemnedRecord } from './store.ts';
import { parseCondemned } from './records.ts';

/** Condemnations kept, and their bytes: what a node has condemned longest ago goes first. */
export const MAX_CONDEMNED = 500;
export const MAX_CONDEMNED_BYTES = 1024 * 1024;
const MAX_REASON = 1000;
const MAX_EVIDENCE_LINES = 20;
const MAX_EVIDENCE = 500;

/** Whether {@link boundCondemned} has to leave one out. */
export function isBeyondBound(records: readonly CondemnedRecord[]): boolean {
  return records.length > MAX_CONDEMNED || records.reduce((sum, record) => sum + size(record), 0) > MAX_CONDEMNED_BYTES;
}

/**
 * The newest of them, in their order. Texts are cut, so that no single one is large.
 * @param isNeeded - stays however old it is: without it this node would start on that content again at once
 */
export function boundCondemned(records: readonly CondemnedRecord[], isNeeded: (record: CondemnedRecord) => boolean): CondemnedRecord[] {
  const short = records.map(shortened);
  const needed = short.filter(isNeeded);
  let [count, bytes] = [needed.length, needed.reduce((sum, record) => sum + size(record), 0)];
  const kept = new Set(needed);
  for (const record of short.toReversed()) {
    if (kept.has(record)) continue;
    count += 1;
    bytes += size(record);
    if (count > MAX_CONDEMNED || bytes > MAX_CONDEMNED_BYTES) break;
    kept.add(record);
  }
  return short.filter((record) => kept.has(record));
}

/** The records at the end of a file that is too large to be read, as far as this store wrote it; the newest are last. */
export function condemnedAtEnd(end: Uint8Array): readonly CondemnedRecord[] {
  const text = new TextDecoder().decode(end);
  const first = text.indexOf('\n  {\n');
  if (first < 0) return [];
  const parsed = parseCondemned(new TextEncoder().encode(`[${text.slice(first)}`));
  return parsed.ok ? parsed.value : [];
}

function shortened(record: CondemnedRecord): CondemnedRecord {
  const evidence = record.evidence.slice(-MAX_EVIDENCE_LINES).map((line) => line.slice(0, MAX_EVIDENCE));
  return { ...record, reason: record.reason.slice(0, MAX_REASON), evidence };
}

/** As it is written: indented, so some more than its text. */
const size = (record: CondemnedRecord): number =>
  Buffer.byteLength(JSON.stringify(record, undefined, 2)) + 40 * (record.evidence.length + 12);
