import type { Key } from '../cache/contract.ts';
import type { Expectations } from './expectations.ts';
import type { Outcome } from './outcome.ts';
import type { OwnWrites, SeenCache } from './own-writes.ts';

export interface HoldBack {
  /** @default nothing is awaited: for who decides on them by itself */
  expectations?: Pick<Expectations, 'requeueAfter'>;
  ownWrites: Pick<OwnWrites, 'caughtUp' | 'requeueAfter'>;
  /** Of every kind that the controller writes. */
  caches: readonly SeenCache[];
}

/**
 * What every reconcile begins with, once it knows that its owner is there: the caches must show what the last passes did, else it is done twice.
 * @returns when to look again, without an event too; undefined to go on
 * @throws {RangeError} when a kind that was written is not among the caches: a mistake of the caller's
 */
export function holdBack(key: Key, { expectations, ownWrites, caches }: HoldBack): Outcome | undefined {
  if (!ownWrites.caughtUp(key, caches)) return { requeueAfter: ownWrites.requeueAfter(key) ?? 0, why: 'own writes are not seen yet' };
  const after = expectations?.requeueAfter(key);
  return after === undefined ? undefined : { requeueAfter: after, why: 'creations or deletions are not seen yet' };
}
