import { messageOf } from '../../base/errors.ts';
import type { Audience } from './news.ts';

/**
 * Decides on one set. An exception there is a mistake of ours, or an object that no server should have taken: it costs this set a Warning event, a line in
 * the log and backoff, and no other set anything.
 * @throws what `decide` throws
 */
export function decideFor<T>({ events, set, resource }: Audience, decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    const message = `Nothing is done for this set: deciding on it failed: ${messageOf(error)}`;
    events.event(set, 'Warning', 'FailedSync', message, { resource });
    throw error;
  }
}
