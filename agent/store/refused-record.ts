import type { ContentRef, Source } from '../checkpoint/source.ts';
import { MAX_FINDINGS, splitFindings } from '../config/config.ts';
import type { Finding } from '../config/contract.ts';

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
  /** Fields, rules and messages, never values. At most {@link MAX_FINDINGS}. */
  findings: readonly Finding[];
  /** How many findings more there were. */
  more: number;
}

/** Longest text of a finding, in characters. A name of a field may be as long as the ConfigMap. */
export const MAX_FINDING_TEXT = 1000;

export type Refusal = Omit<RefusedRecord, 'findings' | 'more'>;

/** Cuts what a file for people need not hold. */
export function refusedRecord(refusal: Refusal, findings: readonly Finding[]): RefusedRecord {
  const { named, more } = splitFindings(findings);
  const kept = named.slice(0, MAX_FINDINGS).map(({ field, rule, message }) => ({ field: cut(field), rule, message: cut(message) }));
  return { ...refusal, findings: kept, more: named.length - kept.length + more };
}

/** Whether both refuse the same for the same reasons; `at` may differ. */
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
