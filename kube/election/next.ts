import type { Millis } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import { durationOf, holderOf, type Lease, signOf } from './lease.ts';

/** Both clocks of this machine, read together. */
export interface ClockReading {
  monotonic: Millis;
  wall: Millis;
}

/** A lease record, or its absence, and when this process first saw it: the record is at least that old. */
export interface Seen {
  lease: Lease | undefined;
  since: ClockReading;
  /** How long the previous holder may still act on the lease, counted from `since`, in ms. */
  validMs: Millis;
}

/** A lease that this process holds. */
export interface Held {
  /** The last state known from the server. */
  lease: Lease;
  /** When the last successful write was started: no candidate can have begun to wait for its expiry earlier. */
  from: ClockReading;
}

/** The two decisions that safety depends on. */
export interface Rules {
  /** The holder of the record has stopped acting as leader, since it follows the same rules. */
  isOver(seen: Seen, now: ClockReading): boolean;
  /** No other candidate can have taken the lease yet, since all follow the same rules. */
  isCertain(held: Held, now: ClockReading, renewDeadlineMs: Millis): boolean;
}

/**
 * Times in a record come from another machine's clock and are ignored. A candidate counts only the time during which it saw a record unchanged, on the
 * monotonic clock, which is never too fast: it stops while the machine is suspended. A holder counts from before its last write was sent, on whichever of its
 * clocks advanced further: the wall clock is set forward after a suspension. A wall clock that is set forward by hand costs the holder its lease; one that is
 * merely wrong does no harm.
 */
export const rules: Rules = {
  isOver: (seen, now) => (seen.lease !== undefined && holderOf(seen.lease) === '') || now.monotonic - seen.since.monotonic >= seen.validMs,
  isCertain: (held, now, renewDeadlineMs) => certainForMs(held, now, renewDeadlineMs) > 0,
};

/** Ms until a holder has to stop if no renewal succeeds. */
export function certainForMs(held: Held, now: ClockReading, renewDeadlineMs: Millis): Millis {
  const passed = Math.max(now.monotonic - held.from.monotonic, now.wall - held.from.wall);
  return renewDeadlineMs - passed;
}

/** The record after a read of the lease, given the record before. @param fallbackMs - duration of a lease without one, in ms */
function observeLease(before: Seen | undefined, lease: Lease | undefined, at: ClockReading, fallbackMs: Millis): Seen {
  if (lease !== undefined) return { lease, since: at, validMs: durationOf(lease, fallbackMs) };
  // The holder of a deleted lease may not have noticed yet.
  const stands = before?.lease !== undefined && holderOf(before.lease) !== '' ? before.validMs : 0;
  return { lease: undefined, since: at, validMs: stands };
}

/**
 * The state of one participant.
 *
 * looking --found--> waiting                                looking --failed--> resting
 * waiting --waited--> looking                               waiting --wrote (took it)--> leading
 * waiting --refused (409), failed--> resting                resting --waited--> looking
 * leading --wrote (renewed)--> leading                      leading --failed--> leading, with the time it has left
 * leading --refused (409, 404)--> doubting                  doubting --found, still held--> leading
 * doubting --found, another holder, or deleted--> lost      doubting --failed--> doubting, with the time it has left
 * leading, doubting --anything after the renew deadline--> lost, for good
 */
export type ElectionState =
  | ({ at: 'looking' | 'resting'; seen: Seen | undefined } & Candidate)
  | ({ at: 'waiting'; seen: Seen } & Candidate)
  /** `due`: when to write or look next, on the monotonic clock. */
  | { at: 'leading' | 'doubting'; held: Held; due: Millis }
  | { at: 'lost'; why: string };

interface Candidate {
  /** A write of this process got no response: a lease that names this process may be its result. */
  tried: boolean;
}

/** The result of a step; `at` is when it arrived. */
export type Saw = { at: ClockReading } & (
  | /** The lease as read; undefined: there is none. */ { kind: 'found'; lease: Lease | undefined }
  | /** The write succeeded; it was started at `from`. */ { kind: 'wrote'; lease: Lease; from: ClockReading }
  | /** A write was rejected: another write was faster, or the lease was deleted. */ { kind: 'refused' }
  | /** No response, or an error unrelated to the lease's state: a write may or may not have succeeded. */ { kind: 'failed' }
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
  /** undefined: create the lease. */
  | { do: 'take'; lease: Lease | undefined }
  | { do: 'renew'; lease: Lease }
  | { do: 'wait'; ms: Millis }
  | { do: 'end'; why: string };

export const initialState: ElectionState = { at: 'looking', seen: undefined, tried: false };

export function next(state: ElectionState, saw: Saw, settings: Settings): ElectionState {
  switch (state.at) {
    case 'looking':
      if (saw.kind === 'failed') return { ...state, at: 'resting' };
      return saw.kind === 'found' ? { at: 'waiting', seen: seenNow(state.seen, saw, settings), tried: state.tried } : state;
    case 'waiting':
      if (saw.kind === 'wrote') return stillCertain(leading(saw.lease, saw.from, settings), saw.at, settings);
      if (saw.kind === 'failed') return { at: 'resting', seen: state.seen, tried: true };
      if (saw.kind === 'refused') return { ...state, at: 'resting' };
      return saw.kind === 'waited' ? { ...state, at: 'looking' } : state;
    case 'resting':
      return saw.kind === 'waited' ? { ...state, at: 'looking' } : state;
    case 'leading':
    case 'doubting':
      return stillCertain(led(state, saw, settings), saw.at, settings);
    case 'lost':
      return state;
    default:
      return unreachable(state);
  }
}

/** The next step. @param jitter - 0 to 1: the share of 1.2 retry periods that is added to a candidate's wait */
export function plan(state: ElectionState, now: ClockReading, jitter: number, settings: Settings): Step {
  const retryMs = settings.retryPeriodMs * (1 + 1.2 * jitter);
  switch (state.at) {
    case 'looking':
      return { do: 'look' };
    case 'waiting': {
      const { seen, tried } = state;
      const isOurs = tried && seen.lease !== undefined && holderOf(seen.lease) === settings.identity;
      if (isOurs || settings.rules.isOver(seen, now)) return { do: 'take', lease: seen.lease };
      const left = seen.validMs - (now.monotonic - seen.since.monotonic);
      return { do: 'wait', ms: left > 0 ? Math.min(retryMs, left) : retryMs };
    }
    case 'resting':
      return { do: 'wait', ms: retryMs };
    case 'leading':
    case 'doubting':
      if (now.monotonic < state.due) return { do: 'wait', ms: state.due - now.monotonic };
      return state.at === 'leading' ? { do: 'renew', lease: state.held.lease } : { do: 'look' };
    case 'lost':
      return { do: 'end', why: state.why };
    default:
      return unreachable(state);
  }
}

/** An unchanged record keeps the time of its first sighting, and gets the newest resourceVersion. */
function seenNow(before: Seen | undefined, { lease, at }: { lease: Lease | undefined; at: ClockReading }, settings: Settings): Seen {
  const now = observeLease(before, lease, at, settings.leaseDurationMs);
  const isSame =
    before !== undefined &&
    (lease === undefined || before.lease === undefined ? lease === before.lease : signOf(lease) === signOf(before.lease));
  return isSame ? { ...before, lease } : now;
}

function leading(lease: Lease, from: ClockReading, settings: Settings): ElectionState {
  return { at: 'leading', held: { lease, from }, due: from.monotonic + settings.retryPeriodMs };
}

function led(state: ElectionState & { at: 'leading' | 'doubting' }, saw: Saw, settings: Settings): ElectionState {
  switch (saw.kind) {
    case 'wrote':
      return leading(saw.lease, saw.from, settings);
    case 'refused':
      return { ...state, at: 'doubting', due: saw.at.monotonic };
    case 'failed':
      return { ...state, due: saw.at.monotonic + settings.retryPeriodMs };
    case 'waited':
      return state;
    case 'found':
      if (saw.lease === undefined) return { at: 'lost', why: 'the lease was deleted' };
      if (holderOf(saw.lease) !== settings.identity) {
        return { at: 'lost', why: `it is held by ${holderOf(saw.lease) === '' ? 'nobody' : holderOf(saw.lease)} now` };
      }
      // A read makes nothing certain: only a write does, now on top of the version that was read.
      return { at: 'leading', held: { ...state.held, lease: saw.lease }, due: saw.at.monotonic };
    default:
      return unreachable(saw);
  }
}

function stillCertain(state: ElectionState, now: ClockReading, { rules, renewDeadlineMs }: Settings): ElectionState {
  if (state.at !== 'leading' && state.at !== 'doubting') return state;
  if (rules.isCertain(state.held, now, renewDeadlineMs)) return state;
  return { at: 'lost', why: `it was not renewed within ${renewDeadlineMs} ms` };
}
