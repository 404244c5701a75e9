import { durationOf, holderOf } from './lease.ts';
import type { Millis } from '../../base/clock.ts';
import type { Lease } from './lease.ts';

/** Both clocks of this machine, read together. */
export interface Moment {
  monotonic: Millis;
  wall: Millis;
}

/** A record of the lease, or that there is none, and when we first knew of it: by then it was there already. */
export interface Seen {
  lease: Lease | undefined;
  since: Moment;
  /** For how long whoever held the lease may still believe in it, counted from `since`, in ms. */
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
  /** Nobody who goes by these rules can act on the record any more. */
  isOver(seen: Seen, now: Moment): boolean;
  /** Nobody who goes by these rules can have taken our lease yet. */
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
export function observeLease(before: Seen | undefined, lease: Lease | undefined, at: Moment, fallbackMs: Millis): Seen {
  if (lease !== undefined) return { lease, since: at, standsMs: durationOf(lease, fallbackMs) };
  // Whoever held a lease that somebody deleted may not know yet.
  const stands = before?.lease !== undefined && holderOf(before.lease) !== '' ? before.standsMs : 0;
  return { lease: undefined, since: at, standsMs: stands };
}
