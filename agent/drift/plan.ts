import type { KubeletStart } from '../host/unit.ts';
import type { Millis } from '../../base/clock.ts';
import { isJsonObject } from '../../kube/api/json.ts';

/**
 * How a node can run something else than its agent wrote:
 * EffectiveFileChanged  the effective file is not what the agent wrote, or is gone
 * NotUsed               the kubelet's command line does not name the effective file
 * KubeletDiffers        the kubelet runs another configuration than the effective file holds
 */
export const DRIFT_KINDS = ['EffectiveFileChanged', 'NotUsed', 'KubeletDiffers'] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

export interface Drift {
  kind: DriftKind;
  /** One line for people: paths and names of fields, never a value. */
  detail: string;
  /** RFC 3339, UTC: when the agent first saw it. */
  since: string;
}

export function sameDrift(a: readonly Drift[] | undefined, b: readonly Drift[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every(({ kind, detail, since }, at) => isSame({ kind, detail, since }, b[at]));
}

const isSame = (a: Drift, b: Drift | undefined): boolean => a.kind === b?.kind && a.detail === b.detail && a.since === b.since;

/** A `--config` of the kubelet, and whether that is the effective file. */
export interface ConfigFlag {
  path: string;
  isEffective: boolean;
}

/** What systemd and the kernel say of the kubelet's command line. */
export interface UnitFacts {
  unit: string;
  /** The process that runs; absent where none does, or its command line cannot be read. `config` null: it has no `--config`. */
  running?: { program: string; config: ConfigFlag | null };
  /** As the next start will have it; null: no `--config` is to be seen there, as with a wrapper script. */
  next: ConfigFlag | null;
  /** The drop-in 20-dkc.conf is loaded. */
  hasDropIn: boolean;
}

/** One look. What is absent could not be found out, and says nothing in either direction. */
export interface DriftFacts {
  path: string;
  effective?: 'as-written' | 'changed' | 'missing';
  unit?: UnitFacts;
  start?: KubeletStart;
  /** Fields in which the answer of /configz differs from what the effective file gives; names only. */
  fields?: readonly string[];
}

/** What drifts by this look, with a line for people; null: does not; absent: not known. */
export type Found = Partial<Record<DriftKind, string | null>>;

/** What one look says, before it is known whether it lasts. */
export function findDrift(facts: DriftFacts): Found {
  const [notUsed, differs] = [usage(facts), difference(facts)];
  return {
    ...(facts.effective === undefined ? {} : { EffectiveFileChanged: fileText(facts.effective, facts.path) }),
    ...(notUsed === undefined ? {} : { NotUsed: notUsed }),
    ...(differs === undefined ? {} : { KubeletDiffers: differs }),
  };
}

function fileText(effective: NonNullable<DriftFacts['effective']>, path: string): string | null {
  if (effective === 'as-written') return null;
  return effective === 'missing' ? `${path} was removed` : `${path} was changed by another program or by hand`;
}

function usage({ unit: facts, path }: DriftFacts): string | null | undefined {
  if (!facts) return undefined;
  const { unit, running, next, hasDropIn } = facts;
  // A script that starts the kubelet has other arguments than the kubelet.
  const isKnown = running !== undefined && (running.config !== null || isKubelet(running.program));
  if (isKnown && running.config?.isEffective !== true)
    return `the running kubelet was started ${flagText(running.config)} instead of --config=${path}`;
  if (next !== null && !next.isEffective) return `the next start of ${unit} will read ${next.path} instead of ${path}`;
  if (next === null && !hasDropIn) return `the next start of ${unit} will not read ${path}: its drop-in 20-dkc.conf is not loaded`;
  return null;
}

/** By the name of the program. */
export const isKubelet = (program: string): boolean => /(^|\/)kubelet[^/]*$/.test(program);

const flagText = (config: ConfigFlag | null): string => (config === null ? 'without --config' : `with --config=${config.path}`);

/** Names of fields in one line. */
const MAX_FIELDS = 10;

function difference({ start, fields }: DriftFacts): string | null | undefined {
  if (start === 'another') return 'the kubelet was started on another file than the agent wrote';
  if (fields !== undefined && fields.length > 0) {
    const more = fields.length > MAX_FIELDS ? ` and ${fields.length - MAX_FIELDS} more` : '';
    return `/configz of the kubelet differs from the effective file in ${fields.slice(0, MAX_FIELDS).join(', ')}${more}`;
  }
  // A kubelet that is down reads the effective file when it starts.
  return start === 'this' || start === 'down' || fields !== undefined ? null : undefined;
}

/** One kind that was seen. */
interface Seen extends Drift {
  /** Ms on the monotonic clock: since when it is seen without a break. */
  first: Millis;
  isReported: boolean;
}

export type DriftState = Partial<Readonly<Record<DriftKind, Seen>>>;

/**
 * How long a kind is seen without a break before it is reported, in ms. An editor writes in steps; a package brings a drop-in before systemd loads
 * it; and a kubelet that is being restarted for a new file runs on the old one meanwhile.
 */
export const GRACE_MS: Readonly<Record<DriftKind, Millis>> = { EffectiveFileChanged: 2_000, NotUsed: 60_000, KubeletDiffers: 180_000 };

export interface NextDrift {
  state: DriftState;
  /** What is to be reported from this look on. */
  began: readonly Drift[];
  /** What was reported, and is over. */
  ended: readonly Drift[];
}

/** What a look changes. @param at - its time on the monotonic clock @param now - the same, RFC 3339 */
export function nextDrift(before: DriftState, found: Found, at: Millis, now: string): NextDrift {
  const state: Partial<Record<DriftKind, Seen>> = {};
  const [began, ended]: [Drift[], Drift[]] = [[], []];
  for (const kind of DRIFT_KINDS) {
    const [old, detail] = [before[kind], found[kind]];
    if (detail === undefined) {
      if (old) state[kind] = old;
    } else if (detail === null) {
      if (old?.isReported === true) ended.push(driftOf(old));
    } else {
      const { first, since, isReported } = old ?? { first: at, since: now, isReported: false };
      const seen = { kind, detail, since, first, isReported: isReported || at - first >= GRACE_MS[kind] };
      if (seen.isReported && !isReported) began.push(driftOf(seen));
      state[kind] = seen;
    }
  }
  return { state, began, ended };
}

/** What an agent before this one reported, so that its restart neither ends nor repeats it. */
export function resumeDrift(reported: readonly Drift[], at: Millis): DriftState {
  return Object.fromEntries(reported.map((drift) => [drift.kind, { ...drift, first: at, isReported: true }]));
}

/** What is reported, in the order of kinds. */
export function reportedDrift(state: DriftState): Drift[] {
  return DRIFT_KINDS.flatMap((kind) => (state[kind]?.isReported === true ? [driftOf(state[kind])] : []));
}

const driftOf = ({ kind, detail, since }: Drift): Drift => ({ kind, detail, since });

/** Ms until what is seen and not reported yet is due; undefined where there is none. */
export function dueIn(state: DriftState, at: Millis): Millis | undefined {
  const waits = Object.values(state).flatMap(({ kind, first, isReported }) => (isReported ? [] : [first + GRACE_MS[kind] - at]));
  return waits.length === 0 ? undefined : Math.max(0, Math.min(...waits));
}

/** Corrections of the effective file within {@link WINDOW_MS}; each may cost a restart of the kubelet. */
export const MAX_CORRECTIONS = 3;
/** In ms. */
const WINDOW_MS: Millis = 3_600_000;

/**
 * `D/drift.json`: when policy had the effective file corrected. On disk, since each correction ends the agent.
 * @returns RFC 3339, oldest first; none where the text is not such a record
 */
export function parseCorrections(text: string): string[] {
  try {
    const json: unknown = JSON.parse(text);
    const times = isJsonObject(json) ? json['corrections'] : undefined;
    return Array.isArray(times) ? times.filter((time) => typeof time === 'string').slice(-MAX_CORRECTIONS) : [];
  } catch {
    return [];
  }
}

export function printCorrections(times: readonly string[]): string {
  return `${JSON.stringify({ corrections: times.slice(-MAX_CORRECTIONS) })}\n`;
}

/** Those of the last hour. A time that lies ahead, since the clock was set back, counts for an hour as well. @param now - wall clock, ms */
export function recentCorrections(times: readonly string[], now: Millis): string[] {
  return times.filter((time) => Math.abs(now - Date.parse(time)) < WINDOW_MS);
}
