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

/** The kubelet's command line, from systemd and /proc. */
export interface UnitFacts {
  unit: string;
  /** The running process; absent where none runs, or its command line cannot be read. `config` null: it has no `--config`. */
  running?: { program: string; config: ConfigFlag | null };
  /** The `--config` of the next start; null: the unit's command line has none, as with a wrapper script. */
  next: ConfigFlag | null;
  /** The drop-in 20-dkc.conf is loaded. */
  hasDropIn: boolean;
}

/** The result of one check. An absent member is unknown: it neither starts nor ends drift. */
export interface DriftFacts {
  path: string;
  effective?: 'as-written' | 'changed' | 'missing';
  unit?: UnitFacts;
  start?: KubeletStart;
  /** Names of the fields in which /configz differs from the effective file. */
  fields?: readonly string[];
}

/** The drift that this check found, by kind, with a line for people; null: none; absent: unknown. */
export type Found = Partial<Record<DriftKind, string | null>>;

/** The drift of one check, before the grace time. */
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
  // The arguments of a script that starts the kubelet are not those of the kubelet.
  const isKnown = running !== undefined && (running.config !== null || isKubelet(running.program));
  if (isKnown && running.config?.isEffective !== true)
    return `the running kubelet was started ${flagText(running.config)} instead of --config=${path}`;
  if (next !== null && !next.isEffective) return `the next start of ${unit} will read ${next.path} instead of ${path}`;
  if (next === null && !hasDropIn) return `the next start of ${unit} will not read ${path}: its drop-in 20-dkc.conf is not loaded`;
  return null;
}

/** Whether the program's name starts with `kubelet`. */
export const isKubelet = (program: string): boolean => /(^|\/)kubelet[^/]*$/.test(program);

const flagText = (config: ConfigFlag | null): string => (config === null ? 'without --config' : `with --config=${config.path}`);

/** Most field names in one line. */
const MAX_FIELDS = 10;

function difference({ start, fields }: DriftFacts): string | null | undefined {
  if (start === 'another') return 'the kubelet was started on another file than the agent wrote';
  if (fields !== undefined && fields.length > 0) {
    const more = fields.length > MAX_FIELDS ? ` and ${fields.length - MAX_FIELDS} more` : '';
    return `/configz of the kubelet differs from the effective file in ${fields.slice(0, MAX_FIELDS).join(', ')}${more}`;
  }
  // A kubelet that is down will read the effective file at its next start.
  return start === 'this' || start === 'down' || fields !== undefined ? null : undefined;
}

/** A drift that was found, reported or not. */
interface Seen extends Drift {
  /** Since when it was found in every check, ms on the monotonic clock. */
  first: Millis;
  isReported: boolean;
}

export type DriftState = Partial<Readonly<Record<DriftKind, Seen>>>;

/**
 * How long a kind must be found in every check before it is reported, in ms. An editor writes in steps; a package installs a drop-in before systemd
 * loads it; and a kubelet that is being restarted for a new file still runs on the old one.
 */
export const GRACE_MS: Readonly<Record<DriftKind, Millis>> = { EffectiveFileChanged: 2_000, NotUsed: 60_000, KubeletDiffers: 180_000 };

export interface NextDrift {
  state: DriftState;
  /** Drift to report from this check on. */
  began: readonly Drift[];
  /** Reported drift that is resolved. */
  ended: readonly Drift[];
}

/** The state after a check. @param at - time of the check on the monotonic clock @param now - the same time, RFC 3339 */
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

/** The state from the drift that the previous agent reported, so that a restart neither ends nor repeats the report. */
export function resumeDrift(reported: readonly Drift[], at: Millis): DriftState {
  return Object.fromEntries(reported.map((drift) => [drift.kind, { ...drift, first: at, isReported: true }]));
}

/** The reported drift, in the order of {@link DRIFT_KINDS}. */
export function reportedDrift(state: DriftState): Drift[] {
  return DRIFT_KINDS.flatMap((kind) => (state[kind]?.isReported === true ? [driftOf(state[kind])] : []));
}

const driftOf = ({ kind, detail, since }: Drift): Drift => ({ kind, detail, since });

/** Time until the next drift that is not reported yet is due, in ms; undefined where there is none. */
export function dueIn(state: DriftState, at: Millis): Millis | undefined {
  const waits = Object.values(state).flatMap(({ kind, first, isReported }) => (isReported ? [] : [first + GRACE_MS[kind] - at]));
  return waits.length === 0 ? undefined : Math.max(0, Math.min(...waits));
}

/** Most corrections of the effective file within {@link WINDOW_MS}; each may restart the kubelet. */
export const MAX_CORRECTIONS = 3;
/** In ms. */
const WINDOW_MS: Millis = 3_600_000;

/**
 * `D/drift.json`: the times of corrections of the effective file. On disk, since each correction restarts the agent.
 * @returns RFC 3339, oldest first; empty where the text is not such a record
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

/** The times of the last hour, and those up to an hour ahead, since the clock may have been set back. @param now - wall clock, ms */
export function recentCorrections(times: readonly string[], now: Millis): string[] {
  return times.filter((time) => Math.abs(now - Date.parse(time)) < WINDOW_MS);
}
