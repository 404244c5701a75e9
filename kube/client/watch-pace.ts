import { backoff } from '../../base/backoff.ts';
import { unreachable } from '../../base/errors.ts';
import type { BackoffLimits } from '../../base/backoff.ts';
import type { Millis } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';

/** Failures in a row, and 410s without a working watch between them. */
export interface Pace {
  failures: number;
  expirations: number;
}

/** How one list or watch request went, and events on the way. */
export type Turn =
  | { kind: 'listed' }
  /** An event or a bookmark came. */
  | { kind: 'event' }
  | { kind: 'ended'; lastedMs: Millis }
  | { kind: 'expired' }
  | { kind: 'failed'; lastedMs: Millis; retryAfterMs: Millis | undefined };

export const freshPace: Pace = { failures: 0, expirations: 0 };

const LIMITS: BackoffLimits = { base: 500, cap: 30_000 };
/** A `Retry-After` beyond this is not believed: a mistaken one must not make a node deaf. */
const MAX_RETRY_AFTER: Millis = 5 * 60_000;
/** Reconnecting at once to a server that hangs up at once is a busy loop: an end before this counts as a failure. */
const SHORTEST_WATCH: Millis = 1_000;
/** A watch that stood this long shows that the server was well, even if it had nothing to tell. */
const PROVEN_WATCH: Millis = 30_000;

/**
 * What to wait before the next request, in ms.
 * The first 410 lists again at once: it is what a restarted server says to everyone. Only 410 after 410 backs off.
 */
export function pace(before: Pace, turn: Turn, random: Random): { pace: Pace; waitMs: Millis } {
  switch (turn.kind) {
    case 'event':
      return { pace: freshPace, waitMs: 0 };
    case 'listed':
      return { pace: { ...before, failures: 0 }, waitMs: 0 };
    case 'ended':
      return turn.lastedMs >= SHORTEST_WATCH ? { pace: freshPace, waitMs: 0 } : failed(before, 0, random);
    case 'expired': {
      const { expirations } = before;
      const waitMs = expirations === 0 ? 0 : backoff(expirations, LIMITS, random);
      return { pace: { failures: 0, expirations: expirations + 1 }, waitMs };
    }
    case 'failed':
      return failed(turn.lastedMs >= PROVEN_WATCH ? freshPace : before, turn.retryAfterMs ?? 0, random);
    default:
      return unreachable(turn);
  }
}

function failed(before: Pace, retryAfterMs: Millis, random: Random): { pace: Pace; waitMs: Millis } {
  const failures = before.failures + 1;
  const asked = Math.min(retryAfterMs, MAX_RETRY_AFTER);
  return { pace: { ...before, failures }, waitMs: Math.max(asked, backoff(failures, LIMITS, random)) };
}
