import type { Millis } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { ContentRef, Source } from '../checkpoint/source.ts';
import { sameContent } from '../checkpoint/payload.ts';
import type { TrialRecord } from '../store/store.ts';

/**
 * trying --healthy long enough--> promoted            trying --too many exits, unhealthy too long--> condemned
 * trying --an exit--> trying, with healthyMs at 0     trying --time passes--> trying
 * A config that is trusted already is watched in the same way, but KubeletWatch only reports problems.
 */
export interface Trial {
  /** Healthy time under this config since the last exit, in ms. */
  healthyMs: Millis;
  /** Continuous unhealthy time while the kubelet's unit was active, in ms. */
  unhealthyMs: Millis;
  exits: number;
  /** Boots of the machine after an unclean stop under this config. Each counts as an exit. @default 0 */
  uncleanBoots?: number;
  /** The last probe, on the monotonic clock of this process; absent before the first. */
  probe?: { at: Millis; healthy: boolean };
}

export interface TrialLimits {
  trialMs: Millis;
  unhealthyDeadlineMs: Millis;
  maxExits: number;
  /** Longest time that one probe may account for, in ms: while the agent was stopped it observed nothing. */
  longestGapMs: Millis;
}

export type TrialSaw =
  /** `running`: the kubelet's unit is active, or starting, on this very file; otherwise the probe counts neither as healthy nor as unhealthy. */
  | { kind: 'probed'; at: Millis; healthy: boolean; running: boolean }
  /** `counts`: the exit counts against the config. */
  | { kind: 'exited'; counts: boolean };

export type TrialVerdict = { is: 'open' } | { is: 'passed' } | { is: 'failed'; reason: string };

export function nextTrial(trial: Trial, saw: TrialSaw, limits: TrialLimits): Trial {
  switch (saw.kind) {
    case 'exited':
      return { ...trial, healthyMs: 0, exits: trial.exits + (saw.counts ? 1 : 0) };
    case 'probed': {
      const { at, healthy, running } = saw;
      const span = trial.probe ? Math.min(Math.max(at - trial.probe.at, 0), limits.longestGapMs) : 0;
      if (!running) return { ...trial, probe: { at, healthy: false } };
      if (!healthy) return { ...trial, unhealthyMs: trial.unhealthyMs + span, probe: { at, healthy } };
      // Time counts as healthy only between two healthy probes: after an unhealthy probe the moment of recovery is unknown.
      return { ...trial, healthyMs: trial.healthyMs + (trial.probe?.healthy ? span : 0), unhealthyMs: 0, probe: { at, healthy } };
    }
    default:
      return unreachable(saw);
  }
}

export function verdictOn({ healthyMs, unhealthyMs, exits, uncleanBoots = 0 }: Trial, limits: TrialLimits): TrialVerdict {
  if (exits + uncleanBoots >= limits.maxExits) return { is: 'failed', reason: exitsText({ exits, uncleanBoots }) };
  if (unhealthyMs >= limits.unhealthyDeadlineMs)
    return { is: 'failed', reason: `kubelet was not healthy for ${Math.round(unhealthyMs / 1000)} s` };
  return healthyMs >= limits.trialMs ? { is: 'passed' } : { is: 'open' };
}

/** The counted exits and unclean boots as text, for record, journal and event. */
export function exitsText({ exits, uncleanBoots = 0 }: Pick<Trial, 'exits' | 'uncleanBoots'>): string {
  const times = (count: number): string => `${count} time${count === 1 ? '' : 's'}`;
  const ended = `kubelet exited ${times(exits)}`;
  const crashed = `the machine went down ${times(uncleanBoots)} without a clean stop`;
  if (uncleanBoots === 0) return ended;
  return exits === 0 ? crashed : `${ended} and ${crashed}`;
}

export interface TrialStart {
  source: Source;
  content: ContentRef;
  /** RFC 3339, UTC. */
  now: string;
  boot: ThisBoot;
  /** Bytes in the exits file now: exits before this trial do not count. */
  exitsOffset: number;
}

/**
 * The record of the trial that this start continues or begins. Healthy time adds up over agent restarts. Kubelet exits of an earlier boot of the
 * machine do not count (/run with the exits file is gone), but an unclean end of that boot does.
 */
export function openRecord(old: TrialRecord | undefined, { source, content, now, boot, exitsOffset }: TrialStart): TrialRecord {
  if (!old || !sameContent(old, content)) {
    return { source, ...content, assignedAt: now, healthyMs: 0, unhealthyMs: 0, exits: 0, exitsOffset, bootId: boot.bootId };
  }
  return { ...inThisBoot(old, boot), source };
}

export function trialOf({ healthyMs, unhealthyMs = 0, exits, uncleanBoots }: TrialRecord): Trial {
  return { healthyMs, unhealthyMs, exits, ...(uncleanBoots === undefined ? {} : { uncleanBoots }) };
}

export interface ThisBoot {
  /** Kernel boot id of the current boot; '' where it cannot be read. */
  bootId: string;
  /** The boot that the last clean stop on record belongs to. */
  stoppedIn: string | undefined;
}

/**
 * The record of a trial in this boot of the machine. Kubelet exits count within one boot. A boot after an unclean stop counts as one exit, is kept
 * over boots, and resets healthy time: a config that panics the machine leaves no other trace.
 */
export function inThisBoot(record: TrialRecord, { bootId, stoppedIn }: ThisBoot): TrialRecord {
  if (bootId === '' || record.bootId === bootId) return record;
  const { uncleanBoots = 0 } = record;
  const { evidence: _ofTheExits, ...rest } = record;
  const moved: TrialRecord = { ...rest, bootId, unhealthyMs: 0, exits: 0, exitsOffset: 0 };
  const isClean = record.bootId === '' || stoppedIn === record.bootId;
  return isClean ? moved : { ...moved, healthyMs: 0, uncleanBoots: uncleanBoots + 1 };
}
