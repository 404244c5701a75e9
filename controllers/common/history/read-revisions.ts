import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Revision } from './contract.ts';
import { readData } from './revision.ts';

/** Characters of templates that are read in one turn: a few ms of it. */
const MAX_TURN_TEXT = 2 ** 19;
/** What each costs, however short. */
const EACH = 200;

/**
 * Reads what revisions hold, some in each turn of the event loop, so that the decision that compares them later finds them read. Each is read once for
 * as long as the cache has it: nearly always there is nothing to do.
 */
export async function readRevisions(revisions: readonly Readonly<Revision>[]): Promise<void> {
  let read = 0;
  for (const { data } of revisions) {
    const length = readData(data);
    if (length === 0) continue;
    read += EACH + length;
    if (read < MAX_TURN_TEXT) continue;
    await nextTurn();
    read = 0;
  }
}
