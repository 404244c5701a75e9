import type { Millis } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';

/**
 * trying --healthy long enough--> promoted          trying --too many exits, unhealthy too long--> condemned
 * trying --an exit--> trying, with no health so far  trying --time passes--> trying
 * A config that is trusted already is watched the same way, but the driver only reports what it sees.
 */
export interface Trial {
  /** Health under this config so far, since the last exit. */
  healthyMs: Millis;
  /** Without health on end, while the kubelet's unit was active. */
  unhealthyMs: Millis;
  exits: number;
  /** The last probe, on the monotonic clock of this process; absent before the first. */
  probe?: { at: Millis; healthy: boolean };
}

export interface TrialLimits {
  trialMs: Millis;
  unhealthyDeadlineMs: Millis;
  maxExits: number;
  /** Longest span one probe may stand for: a process that was stopped saw nothing in between. */
  longestGapMs: Millis;
}

export type TrialSaw =
  /** `running` is the kubelet's unit being active on this very file; elsewhere neither health nor its absence counts. */
  | { kind: 'probed'; at: Millis; healthy: boolean; running: boolean }
  /** `asked`: by a request of systemd's, which says nothing against the config. */
  | { kind: 'exited'; asked: boolean };

export type TrialVerdict = { is: 'open' } | { is: 'passed' } | { is: 'failed'; reason: string };

export function nextTrial(trial: Trial, saw: TrialSaw, limits: TrialLimits): Trial {
  switch (saw.kind) {
    case 'exited':
      return { ...trial, healthyMs: 0, exits: trial.exits + (saw.asked ? 0 : 1) };
    case 'probed': {
      const { at, healthy, running } = saw;
      const span = trial.probe ? Math.min(Math.max(at - trial.probe.at, 0), limits.longestGapMs) : 0;
      if (!running) return { ...trial, probe: { at, healthy: false } };
      if (!healthy) return { ...trial, unhealthyMs: trial.unhealthyMs + span, probe: { at, healthy } };
      // The span counts only between two healthy probes: what was in between is not known.
      return { ...trial, healthyMs: trial.healthyMs + (trial.probe?.healthy ? span : 0), unhealthyMs: 0, probe: { at, healthy } };
    }
    default:
      return unreachable(saw);
  }
}

export function verdictOn({ healthyMs, unhealthyMs, exits }: Trial, limits: TrialLimits): TrialVerdict {
  if (exits >= limits.maxExits) return { is: 'failed', reason: `kubelet exited ${exits} times` };
  if (unhealthyMs >= limits.unhealthyDeadlineMs)
    return { is: 'failed', reason: `kubelet was not healthy for ${Math.round(unhealthyMs / 1000)} s` };
  return healthyMs >= limits.trialMs ? { is: 'passed' } : { is: 'open' };
}
