import assert from 'node:assert/strict';
import { text } from '../api-http.ts';
import type { Loose, OpenWatch } from '../api-http.ts';

const TRIES = 10;

/** A watch with an end, and the version of a change that it does not show. */
export interface Begun {
  watch: OpenWatch;
  change: number;
}

/**
 * The last bookmark of a watch that is told nothing else, of the first watch of several that heard of its change. A real server sends one two seconds
 * before the end: whoever keeps it from working just then, or its cache from hearing of the change, has it send none, or an older one.
 * @param begin - the nth watch, which ends by itself; nothing that it shows happens after its version
 */
export async function bookmarkOf(begin: (n: number) => Promise<Begun>): Promise<{ bookmark: Loose; change: number }> {
  for (let n = 0; n < TRIES; n++) {
    const { watch, change } = await begin(n);
    const events = await watch.rest();
    for (const { type } of events) assert.equal(type, 'BOOKMARK');
    const bookmark = events.at(-1)?.object;
    if (bookmark !== undefined && Number(text(bookmark['metadata']?.['resourceVersion'])) >= change) return { bookmark, change };
  }
  return assert.fail(`${TRIES} watches ended without a bookmark that is as new as the last change`);
}
