import { unreachable } from '../../base/errors.ts';
import { isOlder } from './change.ts';

/**
 * The state of a reflector, which determines its next request.
 *
 * streaming --listed--> watching             the current state as events of a watch (1.27 and later)
 * streaming --refused--> listing             the server has no such watch; never tried again
 * streaming --incomplete, twice--> listing   the watch ended before the current state was complete; never tried again
 * streaming --broken, twice--> listing       the connection broke before that; tried again the next time
 * listing --listed--> watching, unless the list is older than the known version: listed again, accepted the third time
 * listing, streaming --expired, too new--> listing the newest, in one piece where the pages expired
 * watching --changed, bookmark--> watching, at the newer version
 * watching --expired (410), lost--> streaming or listing, nothing older than the known version
 * watching --cut--> checking                the next server may have a restored store: its watch would stay silent until its versions catch up
 * checking --reached--> watching, at the same version; checking --too new--> listing the newest; checking --expired--> as watching
 * any --closed, failed--> unchanged: the driver backs off, then retries
 */
export type Reflection =
  { at: 'streaming' } | { at: 'listing'; what: ListWhat; inPages: boolean } | { at: 'watching' } | { at: 'checking' };

/**
 * cached: from the server's watch cache (resourceVersion 0), cheap and perhaps stale; only for a first list. known: nothing older than the known version.
 * newest: what is stored at this moment, the most expensive list.
 */
export type ListWhat = 'cached' | 'known' | 'newest';

export interface ReflectorState {
  is: Reflection;
  /** The known version: the sink is complete up to it; '' before the first list. */
  rv: string;
  /** The server may support watches with `sendInitialEvents`. */
  streams: boolean;
  /** Consecutive watches of that kind that ended or broke before the current state was complete. */
  incomplete: number;
  /** Present where the first list, too, must be the newest. */
  newest?: boolean;
  /** Consecutive lists that were older than the known version, as after a restored backup, or from a server that lags behind. */
  staleLists: number;
}

export type Saw =
  | { kind: 'listed'; rv: string }
  /** An event or a bookmark; without a version it leaves `rv` unchanged. */
  | { kind: 'changed' | 'bookmark'; rv: string | undefined }
  /** A version or continue token is too old, or the server has dropped the events after it. */
  | { kind: 'expired' }
  /** The server has reached the known version. */
  | { kind: 'reached' }
  /** The server has not reached the requested version. */
  | { kind: 'too-new' }
  /** An event shows that earlier events were missed. */
  | { kind: 'lost' }
  /** The server rejects `sendInitialEvents`, or ignores it and stays silent. */
  | { kind: 'refused' }
  /** A streaming watch ended before the current state was complete. */
  | { kind: 'incomplete' }
  /** A streaming watch failed before the current state was complete. */
  | { kind: 'broken' }
  /** The server ended the watch, as it does every few minutes. */
  | { kind: 'closed' }
  /** The server does not answer: it may have been stopped and its store restored. */
  | { kind: 'cut' }
  | { kind: 'failed' };

const MAX_STALE_LISTS = 2;
const MAX_INCOMPLETE = 2;

export function startOf(streams: boolean, newest = false): ReflectorState {
  const how = { rv: '', streams, ...(newest ? { newest } : {}) };
  return { is: relistState(how), ...how, incomplete: 0, staleLists: 0 };
}

export function next(state: ReflectorState, saw: Saw): ReflectorState {
  switch (saw.kind) {
    case 'listed':
      if (state.rv !== '' && isOlder(saw.rv, state.rv) && state.staleLists < MAX_STALE_LISTS) {
        return { ...state, is: { at: 'listing', what: 'newest', inPages: true }, staleLists: state.staleLists + 1 };
      }
      return { ...state, is: { at: 'watching' }, rv: saw.rv, incomplete: 0, staleLists: 0 };
    case 'changed':
    case 'bookmark':
      if (state.is.at !== 'watching' || saw.rv === undefined || saw.rv === '' || isOlder(saw.rv, state.rv)) return state;
      return { ...state, rv: saw.rv };
    case 'expired':
      if (state.is.at === 'watching' || state.is.at === 'checking') return { ...state, is: relistState(state) };
      return { ...state, is: { at: 'listing', what: 'newest', inPages: state.is.at === 'streaming' } };
    case 'too-new':
      return { ...state, is: { at: 'listing', what: 'newest', inPages: true } };
    case 'lost':
      return { ...state, is: relistState(state) };
    case 'refused': {
      const without = { ...state, streams: false };
      return { ...without, is: relistState(without) };
    }
    case 'incomplete':
    case 'broken': {
      const incomplete = state.incomplete + 1;
      if (incomplete < MAX_INCOMPLETE) return { ...state, incomplete };
      const without = { ...state, incomplete: 0, streams: false };
      return { ...without, is: relistState(without), streams: saw.kind === 'broken' };
    }
    case 'reached':
      return { ...state, is: { at: 'watching' } };
    case 'cut':
      return state.is.at === 'watching' ? { ...state, is: { at: 'checking' } } : state;
    case 'closed':
    case 'failed':
      return state;
    default:
      return unreachable(saw);
  }
}

function relistState({ streams, rv, newest = false }: Pick<ReflectorState, 'streams' | 'rv' | 'newest'>): Reflection {
  if (streams) return { at: 'streaming' };
  return { at: 'listing', what: rv !== '' ? 'known' : newest ? 'newest' : 'cached', inPages: true };
}
