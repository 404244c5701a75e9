import { isJsonObject } from '../../kube/api/json.ts';
import type { MaybeSource, Source } from '../checkpoint/source.ts';
import { DRIFT_KINDS, type Drift } from '../drift/plan.ts';

/**
 * `store/meta/active.json`: what this node runs, by the agent's last knowledge. Written at every change, so that `dkc status` needs neither the
 * agent nor a network. Which config the node uses does not depend on it, apart from `assignedBy`; a start also compares the hashes in it with the
 * effective file, to detect a change by another program, and resumes `drift`. Without the record everything works.
 */
export interface ActiveRecord {
  used: 'assigned' | 'last-known-good' | 'local';
  /** The source in use; null for local. */
  source: MaybeSource;
  /** `status.config.error` as last reported; null when there is no error. */
  error: string | null;
  /** SHA-256 of the effective file at the time of writing; '' when there was none. */
  effectiveSha256: string;
  /** The kind of object that assigns; null while unknown, or without a kubeconfig. */
  carrier: 'node' | 'nodeconfig' | null;
  /** Why that carrier, for people. */
  why: string;
  /** RFC 3339, UTC. Since when this very file from this source is in use; changes of error and carrier leave it as it is. */
  at: string;
  /**
   * The kind of object that assigned a config last, kept over restarts: after a NodeConfig, a Node without configSource no longer means local. Without
   * this member it means local, as upstream has it.
   */
  assignedBy?: AssignedBy;
  /** Name of the node whose agent created this record; the agent of another node keeps it and reports that the store is not its own. */
  node?: string;
  /** What the agent is about to run: written before the effective file, so that a reader can identify a file that is newer than the record. */
  next?: Upcoming;
  /** Problems beyond `error` that an admin should know but that are not reported to the API server. Absent: none. */
  notices?: readonly Notice[];
  /** The reported drift. Absent: none. */
  drift?: readonly Drift[];
}

export type AssignedBy = 'node' | 'nodeconfig' | undefined;

/** The part of a record that becomes valid as soon as the effective file has its hash. */
export type Upcoming = Pick<ActiveRecord, 'used' | 'source' | 'error' | 'effectiveSha256' | 'at'>;

/** One current problem of the agent. At most one notice of each kind. */
export interface Notice {
  about: (typeof NOTICE_KINDS)[number];
  /** One line for people: what is wrong, and what to do about it. */
  text: string;
}

const NOTICE_KINDS = [
  'sync',
  'metrics',
  'local-config',
  'hand-over',
  'condemned',
  'kubelet',
  'configz',
  'signature',
  'store',
  'disk',
  'trial',
  'credentials',
  'report',
] as const;

export type ReadActive = { ok: true; record: ActiveRecord } | { ok: false; problem: string };

/** The bytes of the file: JSON for people as well, keys always in this order, a newline at the end. */
export function printActiveRecord(record: ActiveRecord): string {
  const { used, error, effectiveSha256, carrier, why, at, assignedBy, node, next, notices = [], drift = [] } = record;
  const all = {
    used,
    source: orderedSource(record.source),
    error,
    effectiveSha256,
    carrier,
    why,
    at,
    ...(assignedBy ? { assignedBy } : {}),
    ...(node === undefined ? {} : { node }),
    ...(next ? { next: orderedUpcoming(next) } : {}),
    ...(notices.length === 0 ? {} : { notices: orderedNotices(notices) }),
    ...(drift.length === 0 ? {} : { drift: drift.map(({ kind, detail, since }) => ({ kind, detail, since })) }),
  };
  return `${JSON.stringify(all, null, 2)}\n`;
}

/** Unknown keys are ignored, so that the file of a newer agent still reads. */
export function parseActiveRecord(text: string): ReadActive {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, problem: 'it is not JSON' };
  }
  if (!isJsonObject(json)) return { ok: false, problem: 'it is not an object' };
  const { carrier, why, assignedBy, node } = json;
  if (carrier !== 'node' && carrier !== 'nodeconfig' && carrier !== null) return { ok: false, problem: 'unknown value of carrier' };
  if (typeof why !== 'string') return { ok: false, problem: 'why is not a string' };
  const now = parseUpcoming(json);
  if (typeof now === 'string') return { ok: false, problem: now };
  const notices = parseNotices(json['notices']);
  const drift = parseDrift(json['drift']);
  const next = isJsonObject(json['next']) ? parseUpcoming(json['next']) : undefined;
  return {
    ok: true,
    record: {
      ...now,
      carrier,
      why,
      ...(assignedBy === 'node' || assignedBy === 'nodeconfig' ? { assignedBy } : {}),
      ...(typeof node === 'string' && node !== '' ? { node } : {}),
      ...(typeof next === 'object' ? { next } : {}),
      ...(notices.length === 0 ? {} : { notices }),
      ...(drift.length === 0 ? {} : { drift }),
    },
  };
}

/** @returns a string: why it is invalid */
function parseUpcoming(json: Record<string, unknown>): Upcoming | string {
  const { used, error, effectiveSha256, at } = json;
  if (used !== 'assigned' && used !== 'last-known-good' && used !== 'local') return 'unknown value of used';
  if (error !== null && typeof error !== 'string') return 'error is not a string';
  const source = parseSource(json['source']);
  if (source === undefined) return 'source is incomplete';
  if (typeof effectiveSha256 !== 'string' || typeof at !== 'string') return 'effectiveSha256 or at is not a string';
  return { used, source, error, effectiveSha256, at };
}

function orderedUpcoming({ used, source, error, effectiveSha256, at }: Upcoming): Upcoming {
  return { used, source: orderedSource(source), error, effectiveSha256, at };
}

/** Whether the two differ in `at` only: then the file need not be written. */
export function sameActive(a: ActiveRecord, b: ActiveRecord): boolean {
  return printActiveRecord({ ...a, at: '' }) === printActiveRecord({ ...b, at: '' });
}

/** `record`, with the `at` of `before` (or of `before.next`) where that names the same file from the same source. */
export function sinceBefore(before: ActiveRecord | undefined, record: ActiveRecord): ActiveRecord {
  if (!before) return record;
  const key = ({ used, source, effectiveSha256 }: Upcoming): string => JSON.stringify([used, orderedSource(source), effectiveSha256]);
  const same = [before, before.next].find((one) => one && key(one) === key(record));
  return same ? { ...record, at: same.at } : record;
}

/** The record for an effective file with this hash: `next` replaces the current values where its hash matches. */
export function asOf(record: ActiveRecord, effectiveSha256: string): ActiveRecord {
  const { next, ...now } = record;
  return next && next.effectiveSha256 === effectiveSha256 && now.effectiveSha256 !== effectiveSha256 ? { ...now, ...next } : now;
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
  return json.filter(isJsonObject).flatMap(({ about, text }) => {
    const kind = NOTICE_KINDS.find((one) => one === about);
    return kind === undefined || typeof text !== 'string' ? [] : [{ about: kind, text }];
  });
}

/** One of each kind; kinds that this version does not know are left out. */
function parseDrift(json: unknown): Drift[] {
  const all = Array.isArray(json) ? json.filter(isJsonObject) : [];
  return DRIFT_KINDS.flatMap((kind) => {
    const { detail, since } = all.find((one) => one['kind'] === kind) ?? {};
    return typeof detail === 'string' && typeof since === 'string' ? [{ kind, detail, since }] : [];
  });
}

/** undefined: neither a whole source nor null. */
function parseSource(json: unknown): MaybeSource | undefined {
  if (json === null) return null;
  if (!isJsonObject(json)) return undefined;
  const { namespace, name, uid, resourceVersion, kubeletConfigKey } = json;
  const parts = [namespace, name, uid, resourceVersion, kubeletConfigKey];
  if (!parts.every((part) => typeof part === 'string' && part !== '')) return undefined;
  return { namespace, name, uid, resourceVersion, kubeletConfigKey } as Source;
}
