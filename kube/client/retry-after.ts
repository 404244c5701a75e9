import type { Millis } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';

/** A server that asks for more is obeyed by giving up: whoever called knows better what else to do in that time. */
export const MAX_WAIT: Millis = 10_000;
const MAX_TRIES = 4;
/** Those who were refused together should not come back together. */
const MAX_JITTER: Millis = 1_000;

export interface Refusal {
  method: string;
  status: number;
  /** From the header; the one in a Status' details is the caller's business: an eviction says there when its budget may allow it. */
  retryAfterMs: Millis | undefined;
  /** How often this request was sent so far. */
  tries: number;
  /** What is left of the call's time. */
  leftMs: Millis;
}

/**
 * How long to wait before a refused request is sent again; undefined: it is not, its caller gets the error.
 * 429 says that the server turned it away before acting on it, so anything may be sent again. 503 may come from a proxy that lost the answer, so only
 * what changes nothing is. Neither without `Retry-After`: a server that names no time has not asked us back.
 */
export function retryWaitMs({ method, status, retryAfterMs, tries, leftMs }: Refusal, random: Random): Millis | undefined {
  if (status !== 429 && !(status === 503 && method === 'GET')) return undefined;
  if (retryAfterMs === undefined || retryAfterMs > MAX_WAIT || tries >= MAX_TRIES) return undefined;
  const waitMs = retryAfterMs + random() * Math.min(MAX_JITTER, Math.max(retryAfterMs, 100));
  return waitMs < leftMs ? waitMs : undefined;
}
