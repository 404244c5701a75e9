import { type FileDigest, keyProblem, type Manifest, type Source } from '../checkpoint/source.ts';
import { type CondemnedRecord, journalEvents, type JournalLine, type Refusal, type RefusedRecord, type TrialRecord } from './store.ts';
import { MAX_FINDINGS, splitFindings } from '../config/config.ts';
import type { Finding } from '../config/contract.ts';

// Text <-> record for every file that upstream does not have. A file may be cut, edited by hand or written by a newer version: unknown members
// are ignored, a member of the wrong type is damage, and no problem text quotes the file.

export type Parsed<T> = { ok: true; value: T } | { ok: false; problem: string };

/** Longest detail of a journal line, in characters. */
const longestDetail = 4000;
/** Longest journal line, in bytes: 1,100 lines are less than the 8 MiB that are read. */
const largestLine = 6 * 1024;

export const manifestText = (manifest: Manifest): string => pretty(manifest);
export const trialText = (trial: TrialRecord): string => pretty(trial);
export const condemnedText = (records: readonly CondemnedRecord[]): string => pretty(records);

export function journalText(line: JournalLine): string {
  const { at, event, source } = line;
  const text = (detail: string): string => `${JSON.stringify({ at, event, source, detail })}\n`;
  let detail = line.detail.slice(0, longestDetail);
  // A character takes up to six bytes as JSON. The whole journal must stay below MAX_JOURNAL_BYTES.
  for (
    let over = Buffer.byteLength(text(detail)) - largestLine;
    over > 0 && detail !== '';
    over = Buffer.byteLength(text(detail)) - largestLine
  ) {
    detail = detail.slice(0, Math.max(0, detail.length - Math.max(1, Math.floor(over / 6))));
  }
  return text(detail);
}

/** How the detail of a `booted` line begins; sync reads it to find the boots that could use the assigned config. */
export const usingText = (used: 'assigned' | 'last-known-good' | 'local'): string => `using ${used}`;

export function parseManifest(bytes: Uint8Array): Parsed<Manifest> {
  return parse(bytes, (json) => {
    const from = record(json, 'the manifest');
    const annotations: Record<string, string> = {};
    for (const [name, value] of Object.entries(record(from['annotations'] ?? {}, 'annotations'))) annotations[name] = string(value, name);
    const files = list(from['files'], 'files').map((entry) => fileDigest(record(entry, 'files[]')));
    if (new Set(files.map((file) => file.key)).size !== files.length) throw new Damage('a key is listed twice');
    return {
      ...strings(from, ['namespace', 'name', 'savedAt']),
      annotations,
      files,
      ...(from['adopted'] === true ? { adopted: true } : {}),
    };
  });
}

export function parseTrial(bytes: Uint8Array): Parsed<TrialRecord> {
  return parse(bytes, (json) => {
    const from = record(json, 'the trial');
    return {
      source: source(from['source']),
      ...strings(from, ['kubeletConfigKey', 'contentSha256', 'assignedAt', 'bootId']),
      healthyMs: count(from['healthyMs'], 'healthyMs'),
      // Earlier versions did not write it.
      ...(from['unhealthyMs'] === undefined ? {} : { unhealthyMs: count(from['unhealthyMs'], 'unhealthyMs') }),
      ...(from['needMs'] === undefined ? {} : { needMs: count(from['needMs'], 'needMs') }),
      exits: count(from['exits'], 'exits'),
      ...(from['evidence'] === undefined ? {} : { evidence: list(from['evidence'], 'evidence').map((line) => string(line, 'evidence[]')) }),
      ...(from['uncleanBoots'] === undefined ? {} : { uncleanBoots: count(from['uncleanBoots'], 'uncleanBoots') }),
      exitsOffset: count(from['exitsOffset'], 'exitsOffset'),
    };
  });
}

export function parseCondemned(bytes: Uint8Array): Parsed<readonly CondemnedRecord[]> {
  return parse(bytes, (json) =>
    list(json, 'the file').map((entry) => {
      const from = record(entry, 'a record');
      const by = from['by'];
      if (by !== 'agent' && by !== 'admin') throw new Damage('by is neither agent nor admin');
      return {
        ...strings(from, ['uid', 'resourceVersion', 'kubeletConfigKey', 'contentSha256', 'reason', 'at']),
        // A script may have written the record without these members.
        ...strings({ namespace: '', name: '', retry: '', ...from }, ['namespace', 'name', 'retry']),
        evidence: list(from['evidence'] ?? [], 'evidence').map((line) => string(line, 'evidence[]')),
        by,
      };
    }),
  );
}

export function parseRefused(bytes: Uint8Array): Parsed<RefusedRecord> {
  return parse(bytes, (json) => {
    const from = record(json, 'the record');
    return {
      source: source(from['source']),
      ...strings(from, ['contentSha256', 'kubeletConfigKey', 'at', 'error']),
      findings: list(from['findings'], 'findings').map((entry) => strings(record(entry, 'findings[]'), ['field', 'rule', 'message'])),
      more: count(from['more'], 'more'),
    };
  });
}

/** Oldest first. Lines that a crash cut, and lines of another form, are skipped. */
export function parseJournal(bytes: Uint8Array): JournalLine[] {
  return new TextDecoder()
    .decode(bytes)
    .split('\n')
    .flatMap((line) => {
      try {
        // A write that the disk lost leaves zeros, and the next line starts right after them.
        const from = record(JSON.parse(line.slice(line.lastIndexOf('\0') + 1)), 'a line');
        const event = journalEvents.find((name) => name === from['event']);
        if (event === undefined) return [];
        return [{ ...strings(from, ['at', 'detail']), event, source: from['source'] === null ? null : source(from['source']) }];
      } catch {
        return [];
      }
    });
}

/** What is wrong with a record, for people. */
class Damage extends Error {}

function parse<T>(bytes: Uint8Array, read: (json: unknown) => T): Parsed<T> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { ok: false, problem: 'it is not JSON' };
  }
  try {
    return { ok: true, value: read(json) };
  } catch (error) {
    if (error instanceof Damage) return { ok: false, problem: error.message };
    throw error;
  }
}

function fileDigest(from: Record<string, unknown>): FileDigest {
  const digest = { ...strings(from, ['key', 'sha256']), bytes: count(from['bytes'], 'bytes') };
  const problem = keyProblem(digest.key);
  if (problem !== undefined) throw new Damage(problem);
  if (!/^[0-9a-f]{64}$/.test(digest.sha256)) throw new Damage('a sha256 is not 64 hexadecimal digits');
  return { key: digest.key, bytes: digest.bytes, sha256: digest.sha256 };
}

function source(value: unknown): Source {
  return strings(record(value, 'source'), ['namespace', 'name', 'uid', 'resourceVersion', 'kubeletConfigKey']);
}

function strings<K extends string>(from: Record<string, unknown>, names: readonly K[]): Record<K, string> {
  return Object.fromEntries(names.map((name) => [name, string(from[name], name)])) as Record<K, string>;
}

function string(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Damage(`${what} is not a string`);
  return value;
}

function count(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw new Damage(`${what} is not a count`);
  return value;
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Damage(`${what} is not an object`);
  return value as Record<string, unknown>;
}

function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new Damage(`${what} is not a list`);
  return value;
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Most condemnations that are kept, and their most bytes: the oldest are dropped first. */
export const MAX_CONDEMNED = 500;
export const MAX_CONDEMNED_BYTES = 1024 * 1024;
const MAX_REASON = 1000;
const MAX_EVIDENCE_LINES = 20;
const MAX_EVIDENCE = 500;

/** Whether {@link boundCondemned} has to drop records. */
export function isBeyondBound(records: readonly CondemnedRecord[]): boolean {
  return records.length > MAX_CONDEMNED || records.reduce((sum, record) => sum + size(record), 0) > MAX_CONDEMNED_BYTES;
}

/**
 * The newest records within the bounds, in their order. Texts are cut, so that no single record is large.
 * @param isNeeded - such a record stays at any age: without it this node would start on that content again at once
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

/** The records at the end of a file that is too large; the newest are last. Empty where the file is not in the format of {@link condemnedText}. */
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

/** Bytes of the record in the file, estimated from above for the indentation. */
const size = (record: CondemnedRecord): number =>
  Buffer.byteLength(JSON.stringify(record, undefined, 2)) + 40 * (record.evidence.length + 12);

/** Longest text of a finding, in characters. A field name may be as long as the ConfigMap. */
const MAX_FINDING_TEXT = 1000;

/** The record of a refusal, with the findings cut to {@link MAX_FINDINGS} and {@link MAX_FINDING_TEXT}. */
export function refusedRecord(refusal: Refusal, findings: readonly Finding[]): RefusedRecord {
  const { named, more } = splitFindings(findings);
  const kept = named.slice(0, MAX_FINDINGS).map(({ field, rule, message }) => ({ field: cut(field), rule, message: cut(message) }));
  return { ...refusal, findings: kept, more: named.length - kept.length + more };
}

/** Whether both records name the same config and the same reasons; `at` may differ. */
export function sameRefusal(a: RefusedRecord, b: RefusedRecord): boolean {
  return refusedText({ ...a, at: '' }) === refusedText({ ...b, at: '' });
}

/** The bytes of the file, keys always in this order. */
export function refusedText({ source, contentSha256, kubeletConfigKey, at, error, findings, more }: RefusedRecord): string {
  const { namespace, name, uid, resourceVersion } = source;
  const ordered = { namespace, name, uid, resourceVersion, kubeletConfigKey: source.kubeletConfigKey };
  const named = findings.map(({ field, rule, message }) => ({ field, rule, message }));
  return `${JSON.stringify({ source: ordered, contentSha256, kubeletConfigKey, at, error, findings: named, more }, undefined, 2)}\n`;
}

const cut = (text: string): string => (text.length <= MAX_FINDING_TEXT ? text : `${text.slice(0, MAX_FINDING_TEXT - 3)}...`);
