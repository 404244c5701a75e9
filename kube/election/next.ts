import type { Millis } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import { durationOf, holderOf, type Lease, signOf } from './lease.ts';

/** Both clocks of this machine, read together. */
export interface Moment {
  monotonic: Millis;
  wall: Millis;
}

/** A record of the lease, or that there is none, and when we first knew of it: by then it was there already. */
export interface Seen {
  lease: Lease | undefined;
  since: Moment;
  /** How long the previous holder may still act on the lease, counted from `since`, in ms. */
  standsMs: Millis;
}

/** A lease of ours. */
export interface Held {
  /** As the server last had it, to our knowledge. */
  lease: Lease;
  /** When the last write that counted was begun: nobody's wait for it began earlier. */
  from: Moment;
}

/** The two judgements that all safety rests on. */
export interface Rules {
  /** The holder has stopped acting on the record: it follows the same rules. */
  isOver(seen: Seen, now: Moment): boolean;
  /** No other candidate can have taken our lease yet: all follow the same rules. */
  isCertain(held: Held, now: Moment, renewDeadlineMs: Millis): boolean;
}

/**
 * Times in a record come from another machine's clock and are not looked at. A candidate counts only the time that it has seen a record stand
 * still, on the monotonic clock, which is never too fast: it stops while the machine is suspended. A holder counts from before its last write was
 * sent, on whichever of its clocks got farther: the wall clock is set forward after a suspension. A wall clock set forward by hand costs the holder
 * its lease; one that is merely wrong costs nothing.
 */
export const rules: Rules = {
  isOver: (seen, now) => (seen.lease !== undefined && holderOf(seen.lease) === '') || now.monotonic - seen.since.monotonic >= seen.standsMs,
  isCertain: (held, now, renewDeadlineMs) => certainForMs(held, now, renewDeadlineMs) > 0,
};

/** Ms until a holder has to stop if no renewal succeeds. */
export function certainForMs(held: Held, now: Moment, renewDeadlineMs: Millis): Millis {
  const passed = Math.max(now.monotonic - held.from.monotonic, now.wall - held.from.wall);
  return renewDeadlineMs - passed;
}

/** What is known after a look at the lease, given what was known before. @param fallbackMs - duration of a lease that says none */
function observeLease(before: Seen | undefined, lease: Lease | undefined, at: Moment, fallbackMs: Millis): Seen {
  if (lease !== undefined) return { lease, since: at, standsMs: durationOf(lease, fallbackMs) };
  // The holder of a deleted lease may not have noticed yet.
  const stands = before?.lease !== undefined && holderOf(before.lease) !== '' ? before.standsMs : 0;
  return { lease: undefined, since: at, standsMs: stands };
}

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
