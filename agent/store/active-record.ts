import type { MaybeSource, Source } from '../checkpoint/source.ts';

/**
 * `store/meta/active.json`: what this node runs, as the agent last knew it. Written at every change of it, so that `dkc status`
 * needs neither the agent nor a network. It reports; nothing is decided by it, and without it everything works.
 */
export interface ActiveRecord {
  used: 'assigned' | 'last-known-good' | 'local';
  /** The source in use; null for local. */
  source: MaybeSource;
  /** `status.config.error` as last reported; null when all is well. */
  error: string | null;
  /** Of the effective file when this was written; '' when there was none. */
  effectiveSha256: string;
  /** How this node learns its assignment; null while that is not known, or without a kubeconfig. */
  carrier: 'node' | 'nodeconfig' | null;
  /** Why that carrier, for people. */
  why: string;
  /** RFC 3339, UTC. Since when this very file is in use from this source; errors and carriers come and go without touching it. */
  at: string;
  /** What an admin should know of beyond `error`, and what is no reason for an API server to see. Absent: nothing. */
  notices?: readonly Notice[];
}

/** One thing that the agent cannot do or lacks, for as long as that is so. At most one of each kind. */
export interface Notice {
  about: (typeof NOTICE_KINDS)[number];
  /** One line for people: what is wrong, and what to do about it. */
  text: string;
}

export const NOTICE_KINDS = ['metrics', 'local-config', 'hand-over', 'condemned'] as const;

export type ReadActive = { ok: true; record: ActiveRecord } | { ok: false; problem: string };

/** The bytes of the file: JSON for people as well, keys always in this order, a newline at the end. */
export function printActiveRecord(record: ActiveRecord): string {
  const { used, error, effectiveSha256, carrier, why, at, notices = [] } = record;
  const all = { used, source: orderedSource(record.source), error, effectiveSha256, carrier, why, at };
  return `${JSON.stringify(notices.length === 0 ? all : { ...all, notices: orderedNotices(notices) }, null, 2)}\n`;
}

/** Unknown keys are ignored, so that the file of a newer agent still reads. */
export function parseActiveRecord(text: string): ReadActive {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'it is not JSON' };
  }
  if (!isObject(json)) return { ok: false, problem: 'it is not an object' };
  const { used, error, carrier } = json;
  if (used !== 'assigned' && used !== 'last-known-good' && used !== 'local') return { ok: false, problem: 'unknown value of used' };
  if (carrier !== 'node' && carrier !== 'nodeconfig' && carrier !== null) return { ok: false, problem: 'unknown value of carrier' };
  if (error !== null && typeof error !== 'string') return { ok: false, problem: 'error is not a string' };
  const source = parseSource(json['source']);
  if (source === undefined) return { ok: false, problem: 'source is incomplete' };
  const { effectiveSha256, why, at } = json;
  if (typeof effectiveSha256 !== 'string' || typeof why !== 'string' || typeof at !== 'string') {
    return { ok: false, problem: 'effectiveSha256, why or at is not a string' };
  }
  const notices = parseNotices(json['notices']);
  return { ok: true, record: { used, source, error, effectiveSha256, carrier, why, at, ...(notices.length === 0 ? {} : { notices }) } };
}

/** Whether the two say the same but for the moment: then the file need not be written. */
export function sameActive(a: ActiveRecord, b: ActiveRecord): boolean {
  return printActiveRecord({ ...a, at: '' }) === printActiveRecord({ ...b, at: '' });
}

/** `record`, with the moment of `before` where that one says that the same file ran from the same source. */
export function sinceBefore(before: ActiveRecord | undefined, record: ActiveRecord): ActiveRecord {
  if (!before) return record;
  const { error, carrier, why, notices = [] } = record;
  return sameActive({ ...before, error, carrier, why, notices }, record) ? { ...record, at: before.at } : record;
}

function orderedSource(source: MaybeSource): MaybeSource {
  if (source === null) return null;
  const { namespace, name, uid, resourceVersion, kubeletConfigKey } = source;
  return { namespace, name, uid, resourceVersion, kubeletConfigKey };
}

const orderedNotices = (notices: readonly Notice[]): Notice[] =>
  NOTICE_KINDS.flatMap((kind) => notices.filter(({ about }) => about === kind).map(({ about, text }) => ({ about, text })));

/** Notices of kinds that this version does not know are left out. */
function parseNotices(json: unknown): Notice[] {
  if (!Array.isArray(json)) return [];
  return json.filter(isObject).flatMap(({ about, text }) => {
    const kind = NOTICE_KINDS.find((one) => one === about);
    return kind === undefined || typeof text !== 'string' ? [] : [{ about: kind, text }];
  });
}

/** undefined: neither a whole source nor null. */
function parseSource(json: unknown): MaybeSource | undefined {
  if (json === null) return null;
  if (!isObject(json)) return undefined;
  const { namespace, name, uid, resourceVersion, kubeletConfigKey } = json;
  const parts = [namespace, name, uid, resourceVersion, kubeletConfigKey];
  if (!parts.every((part) => typeof part === 'string' && part !== '')) return undefined;
  return { namespace, name, uid, resourceVersion, kubeletConfigKey } as Source;
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
