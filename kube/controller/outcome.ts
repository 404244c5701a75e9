import type { Millis } from '../../base/clock.ts';

/**
 * What a reconcile comes to. What it throws is no outcome: it is a failure, and the key comes back with backoff.
 *
 * - `done`: the world is as it should be, as far as the cache knows. The next event brings the key back.
 * - `requeueAfter`: there is something to do later, and no event will tell. In ms; 0 or less means at once, behind all others.
 * - `stalled`: it cannot go on, trying again would not help, and an event will tell when it can.
 */
export type Outcome = { done: true } | { requeueAfter: Millis; why: string } | { stalled: true; why: string };

export const done: Outcome = { done: true };
