import type { Millis } from '../../../base/clock.ts';
import type { Key } from '../../../kube/cache/contract.ts';
import type { NodeConfigRollout } from '../types.ts';
import { CLUSTER_WAIT } from './contract.ts';

/** A rollout that waits and was not looked at for longer than this keeps no place, in ms: its looks fail. */
const STALE_MS: Millis = 90_000;
/** Clocks of two machines differ by this, in ms. */
const SKEW_MS: Millis = 60_000;

/** A rollout, as its status has it. */
export interface InLine {
  key: Key;
  /** When it touched a node last; ms since the epoch, 0: never. */
  servedAt: Millis;
  /** It waits for a place in the cluster. */
  waits: boolean;
}

/**
 * Rollouts that wait for a place in the cluster. The one that touched a node the longest time ago is the first, and any other leaves a place for each that
 * is before it: so none waits for ever while others go on. When each touched one is in its status, so that every process has the same order. What a status says
 * of waiting may be old: it counts until the rollout is looked at.
 */
export class Turns {
  readonly #since: Millis;
  /** What the last look at each came to, and when that was. */
  readonly #looks = new Map<Key, { waits: boolean; at: Millis }>();

  /** @param now - all times are of the clock that nobody sets */
  constructor(now: Millis) {
    this.#since = now;
  }

  said(rollout: Key, waits: boolean, now: Millis): void {
    this.#looks.set(rollout, { waits, at: now });
  }

  forget(rollout: Key): void {
    this.#looks.delete(rollout);
  }

  /** Who has its turn before this one, the first one first. @param all - every rollout, this one too */
  ahead(rollout: Key, now: Millis, all: readonly InLine[]): Key[] {
    const isInLine = ({ key, waits }: InLine): boolean => {
      const look = this.#looks.get(key) ?? { waits, at: this.#since };
      return key === rollout || (look.waits && now - look.at <= STALE_MS);
    };
    const order = all.filter(isInLine).toSorted((a, b) => a.servedAt - b.servedAt || (a.key < b.key ? -1 : 1));
    const own = order.findIndex(({ key }) => key === rollout);
    return order.slice(0, Math.max(0, own)).map(({ key }) => key);
  }

  /** Those that the next free place may be for, as far as this process has looked. */
  get waiting(): Key[] {
    return [...this.#looks].filter(([, { waits }]) => waits).map(([key]) => key);
  }
}

/** @param now - wall clock: a time that has yet to come, since the clock was set, says nothing */
export function inLine({ metadata: { name = '', deletionTimestamp }, status = {} }: Readonly<NodeConfigRollout>, now: Millis): InLine {
  const last = Math.max(0, ...(status.touches?.nodes ?? []).map(({ at }) => Date.parse(at)));
  return {
    key: name,
    servedAt: last > now + SKEW_MS ? 0 : last,
    waits: status.waitsFor === CLUSTER_WAIT && deletionTimestamp === undefined,
  };
}
