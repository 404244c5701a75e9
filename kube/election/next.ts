import { unreachable } from '../../base/errors.ts';
import { observeLease } from './judge.ts';
import { holderOf, signOf } from './lease.ts';
import type { Millis } from '../../base/clock.ts';
import type { Held, Moment, Rules, Seen } from './judge.ts';
import type { Lease } from './lease.ts';

/**
 * Where one participant stands.
 *
 * looking --found--> waiting                                looking --failed--> resting
 * waiting --waited--> looking                               waiting --wrote (took it)--> leading
 * waiting --refused (409), failed--> resting                resting --waited--> looking
 * leading --wrote (renewed)--> leading                      leading --failed--> leading, with the time it has left
 * leading --refused (409, 404)--> doubting                  doubting --found, still ours--> leading
 * doubting --found, not ours or not there--> lost           doubting --failed--> doubting, with the time it has left
 * leading, doubting --anything after the renew deadline--> lost, for good
 */
export type Standing =
  | ({ at: 'looking' | 'resting'; seen: Seen | undefined } & Candidate)
  | ({ at: 'waiting'; seen: Seen } & Candidate)
  /** `due`: when to write or look next, on the monotonic clock. */
  | { at: 'leading' | 'doubting'; held: Held; due: Millis }
  | { at: 'lost'; why: string };

interface Candidate {
  /** A write of ours got no answer: a lease that names us may be that write. */
  tried: boolean;
}

/** What came of a step; `at` is when. */
export type Saw = { at: Moment } & (
  | /** The lease as it was a moment before; undefined: there is none. */ { kind: 'found'; lease: Lease | undefined }
  | /** Our write counted; it was begun at `from`. */ { kind: 'wrote'; lease: Lease; from: Moment }
  | /** A write did not count: somebody else was faster, or the lease is gone. */ { kind: 'refused' }
  | /** No answer, or one that says nothing of the lease: a write may have counted or not. */ { kind: 'failed' }
  | { kind: 'waited' }
);

export interface Settings {
  identity: string;
  leaseDurationMs: Millis;
  renewDeadlineMs: Millis;
  retryPeriodMs: Millis;
  rules: Rules;
}

export type Step =
  | { do: 'look' }
  /** undefined: make it. */
  | { do: 'take'; lease: Lease | undefined }
  | { do: 'renew'; lease: Lease }
  | { do: 'wait'; ms: Millis }
  | { do: 'end'; why: string };

export const firstStanding: Standing = { at: 'looking', seen: undefined, tried: false };

export function next(standing: Standing, saw: Saw, settings: Settings): Standing {
  switch (standing.at) {
    case 'looking':
      if (saw.kind === 'failed') return { ...standing, at: 'resting' };
      return saw.kind === 'found' ? { at: 'waiting', seen: seenNow(standing.seen, saw, settings), tried: standing.tried } : standing;
    case 'waiting':
      if (saw.kind === 'wrote') return stillCertain(leading(saw.lease, saw.from, settings), saw.at, settings);
      if (saw.kind === 'failed') return { at: 'resting', seen: standing.seen, tried: true };
      if (saw.kind === 'refused') return { ...standing, at: 'resting' };
      return saw.kind === 'waited' ? { ...standing, at: 'looking' } : standing;
    case 'resting':
      return saw.kind === 'waited' ? { ...standing, at: 'looking' } : standing;
    case 'leading':
    case 'doubting':
      return stillCertain(led(standing, saw, settings), saw.at, settings);
    case 'lost':
      return standing;
    default:
      return unreachable(standing);
  }
}

/** What to do now. @param jitter - 0 to 1: how much of 1.2 retry periods a candidate's wait is longer than one */
export function plan(standing: Standing, now: Moment, jitter: number, settings: Settings): Step {
  const retryMs = settings.retryPeriodMs * (1 + 1.2 * jitter);
  switch (standing.at) {
    case 'looking':
      return { do: 'look' };
    case 'waiting': {
      const { seen, tried } = standing;
      const isOurs = tried && seen.lease !== undefined && holderOf(seen.lease) === settings.identity;
      if (isOurs || settings.rules.isOver(seen, now)) return { do: 'take', lease: seen.lease };
      const left = seen.standsMs - (now.monotonic - seen.since.monotonic);
      return { do: 'wait', ms: left > 0 ? Math.min(retryMs, left) : retryMs };
    }
    case 'resting':
      return { do: 'wait', ms: retryMs };
    case 'leading':
    case 'doubting':
      if (now.monotonic < standing.due) return { do: 'wait', ms: standing.due - now.monotonic };
      return standing.at === 'leading' ? { do: 'renew', lease: standing.held.lease } : { do: 'look' };
    case 'lost':
      return { do: 'end', why: standing.why };
    default:
      return unreachable(standing);
  }
}

/** A record that did not change is as old as when we first saw it; its resourceVersion is the newest all the same. */
function seenNow(before: Seen | undefined, { lease, at }: { lease: Lease | undefined; at: Moment }, settings: Settings): Seen {
  const now = observeLease(before, lease, at, settings.leaseDurationMs);
  const isSame =
    before !== undefined &&
    (lease === undefined || before.lease === undefined ? lease === before.lease : signOf(lease) === signOf(before.lease));
  return isSame ? { ...before, lease } : now;
}

function leading(lease: Lease, from: Moment, settings: Settings): Standing {
  return { at: 'leading', held: { lease, from }, due: from.monotonic + settings.retryPeriodMs };
}

function led(standing: Standing & { at: 'leading' | 'doubting' }, saw: Saw, settings: Settings): Standing {
  switch (saw.kind) {
    case 'wrote':
      return leading(saw.lease, saw.from, settings);
    case 'refused':
      return { ...standing, at: 'doubting', due: saw.at.monotonic };
    case 'failed':
      return { ...standing, due: saw.at.monotonic + settings.retryPeriodMs };
    case 'waited':
      return standing;
    case 'found':
      if (saw.lease === undefined) return { at: 'lost', why: 'the lease was deleted' };
      if (holderOf(saw.lease) !== settings.identity) {
        return { at: 'lost', why: `it is held by ${holderOf(saw.lease) === '' ? 'nobody' : holderOf(saw.lease)} now` };
      }
      // A look makes nothing certain: only a write of ours does, now over the version that is there.
      return { at: 'leading', held: { ...standing.held, lease: saw.lease }, due: saw.at.monotonic };
    default:
      return unreachable(saw);
  }
}

function stillCertain(standing: Standing, now: Moment, { rules, renewDeadlineMs }: Settings): Standing {
  if (standing.at !== 'leading' && standing.at !== 'doubting') return standing;
  if (rules.isCertain(standing.held, now, renewDeadlineMs)) return standing;
  return { at: 'lost', why: `it was not renewed within ${renewDeadlineMs} ms` };
}
