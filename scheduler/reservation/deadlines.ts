import type { Millis } from '../../base/clock.ts';
import type { ReservationConfig } from '../config/config.ts';
import type { Reservation } from './contract.ts';

/*
 * How long room is kept:
 *
 *   pod deleted              ttl from then
 *   old pod still in the API ttl from that look      at most ttl + claimedTtl from the beginning
 *   successor seen           ttl from then           likewise
 *   successor refused        claimedTtl from the first time; another successor changes nothing of that
 *   successor gone           ttl from then, never longer than before
 *   binding failed           10 s from then at least
 */

export type Ttls = Pick<ReservationConfig, 'ttlMs' | 'claimedTtlMs'>;

const MIN_TTL: Millis = 1_000;
/** What a pod whose binding failed has to try again: it waits for its backoff first. */
const SECOND_TRY: Millis = 10_000;

export function atLeastASecond({ ttlMs, claimedTtlMs }: Ttls): Ttls {
  return { ttlMs: Math.max(MIN_TTL, ttlMs), claimedTtlMs: Math.max(MIN_TTL, claimedTtlMs) };
}

/** No room is kept for longer than this after its pod went, but for the tries of a pod whose binding fails. */
export function longestTtl({ ttlMs, claimedTtlMs }: Ttls): Millis {
  return ttlMs + 2 * claimedTtlMs;
}

export function whenDeleted(now: Millis, { ttlMs }: Ttls): Millis {
  return now + ttlMs;
}

/** Also when the old pod is still there. */
export function whenSeen({ createdAt, expiresAt, failedAt }: Reservation, now: Millis, { ttlMs, claimedTtlMs }: Ttls): Millis {
  if (failedAt !== undefined) return Math.max(expiresAt, failedAt + claimedTtlMs);
  return Math.max(expiresAt, Math.min(now + ttlMs, createdAt + ttlMs + claimedTtlMs));
}

export function whenFailed(now: Millis, { claimedTtlMs }: Ttls): Millis {
  return now + claimedTtlMs;
}

export function whenClaimantDeleted({ expiresAt }: Reservation, now: Millis, { ttlMs }: Ttls): Millis {
  return Math.min(expiresAt, now + ttlMs);
}

export function whenRestored({ expiresAt }: Reservation, now: Millis): Millis {
  return Math.max(expiresAt, now + SECOND_TRY);
}
