import type { Source } from '../checkpoint/source.ts';
import { sameSource } from '../checkpoint/source.ts';
import type { JournalLine } from '../store/store.ts';
import type { Millis } from '../../base/clock.ts';

/** A checkpoint that reads damaged although it was saved before: how often it was saved again in vain, and when last. */
export interface Spoiled {
  times: number;
  /** Wall clock. */
  lastMs: Millis;
}

/** What the journal says of a checkpoint that is saved again: over ends of the agent, only the journal knows. */
export const SAVED_AGAIN = 'its checkpoint is damaged: saved again';

/** Saved again at once, then after this long, twice as long, ... */
const FIRST_WAIT: Millis = 30_000;
const MAX_WAIT: Millis = 3_600_000;

/** @returns undefined where it was never saved again since it was assigned, or since a boot could use it */
export function spoiled(journal: readonly JournalLine[], source: Source): Spoiled | undefined {
  let times = 0;
  let lastMs = 0;
  for (const line of journal.toReversed()) {
    if (line.source === null || !sameSource(line.source, source)) continue;
    if (line.event === 'damaged' && line.detail === SAVED_AGAIN) {
      if (times === 0) lastMs = Date.parse(line.at);
      times++;
    } else if (line.event === 'assigned' || (line.event === 'booted' && line.detail.startsWith('using assigned'))) break;
  }
  return times === 0 ? undefined : { times, lastMs };
}

/** Each try wears the disk, and restarts the agent: they become rarer. A clock that was set back does not make the wait longer. */
export function isDue({ times, lastMs }: Spoiled, nowMs: Millis): boolean {
  const waited = nowMs - lastMs;
  return waited < 0 || waited >= Math.min(MAX_WAIT, FIRST_WAIT * 2 ** (times - 1));
}
