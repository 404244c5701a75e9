import { unreachable } from '../../base/errors.ts';
import { isOlder } from './change.ts';

/**
 * Where a reflector stands: what its next request is.
 *
 * streaming --listed--> watching             the present state as events of a watch (1.27 and later)
 * streaming --refused--> listing             this server has no such watch; never asked again
 * streaming --incomplete, twice--> listing   it ended before it said that it was complete; never asked again
 * streaming --broken, twice--> listing       the connection broke in the middle of it; asked again the next time
 * listing --listed--> watching, unless the list is older than what is known: doubted, asked again, believed the third time
 * listing, streaming --expired, too new--> listing the newest, in one piece where the pages expired
 * watching --changed, bookmark--> watching, at the newer version
 * watching --expired (410), lost--> streaming or listing, nothing older than what is known
 * watching --cut--> checking                another server may be there next, or one whose store was restored: it would tell nothing until its versions catch up
 * checking --reached--> watching, at the same version; checking --too new--> listing the newest; checking --expired--> as watching
 * any --closed, failed--> unchanged: the driver backs off, then asks again
 */
export type Reflection =
  { at: 'streaming' } | { at: 'listing'; what: ListWhat; inPages: boolean } | { at: 'watching' } | { at: 'checking' };

/**
 * cached: whatever the server has at hand (resourceVersion 0), which is cheap and may be old; only for a first list.
 * known: nothing older than what is known. newest: what is stored at this moment, the most expensive one.
 */
export type ListWhat = 'cached' | 'known' | 'newest';

export interface ReflectorState {
  is: Reflection;
  /** Everything up to this version is known; '' before the first list. */
  rv: string;
  /** The server may have watches that begin with the present state. */
  streams: boolean;
  /** Such watches in a row that ended before they were complete. */
  incomplete: number;
  /** Present where the first list, too, must be what is stored at that moment. */
  newest?: boolean;
  /** Lists in a row that were older than what is known, as after a restored backup, or from a server that lags behind. */
  doubts: number;
}

export type Saw =
  | { kind: 'listed'; rv: string }
  /** An event or a bookmark; without a version it moves nothing. */
  | { kind: 'changed' | 'bookmark'; rv: string | undefined }
  /** A version or continue token is too old, or the events after it are forgotten. */
  | { kind: 'expired' }
  /** The server has reached the version that is known. */
  | { kind: 'reached' }
  /** The server has not reached the version asked for. */
  | { kind: 'too-new' }
  /** An event shows that others before it never came. */
  | { kind: 'lost' }
  /** The server says that it does not know what `sendInitialEvents` is, or shows it by its silence. */
  | { kind: 'refused' }
  /** A watch with the present state ended in the middle of it. */
  | { kind: 'incomplete' }
  /** A watch with the present state failed in the middle of it. */
  | { kind: 'broken' }
  /** The server ended the watch, as it does every few minutes. */
  | { kind: 'closed' }
  /** No server answers any more: it may have been stopped, and its store set back. */
  | { kind: 'cut' }
  | { kind: 'failed' };

const MAX_DOUBTS = 2;
const MAX_INCOMPLETE = 2;

export function startOf(streams: boolean, newest = false): ReflectorState {
  const how = { rv: '', streams, ...(newest ? { newest } : {}) };
  return { is: again(how), ...how, incomplete: 0, doubts: 0 };
}

export function next(state: ReflectorState, saw: Saw): ReflectorState {
  switch (saw.kind) {
    case 'listed':
      if (state.rv !== '' && isOlder(saw.rv, state.rv) && state.doubts < MAX_DOUBTS) {
        return { ...state, is: { at: 'listing', what: 'newest', inPages: true }, doubts: state.doubts + 1 };
      }
      return { ...state, is: { at: 'watching' }, rv: saw.rv, incomplete: 0, doubts: 0 };
    case 'changed':
    case 'bookmark':
      if (state.is.at !== 'watching' || saw.rv === undefined || saw.rv === '' || isOlder(saw.rv, state.rv)) return state;
      return { ...state, rv: saw.rv };
    case 'expired':
      if (state.is.at === 'watching' || state.is.at === 'checking') return { ...state, is: again(state) };
      return { ...state, is: { at: 'listing', what: 'newest', inPages: state.is.at === 'streaming' } };
    case 'too-new':
      return { ...state, is: { at: 'listing', what: 'newest', inPages: true } };
    case 'lost':
      return { ...state, is: again(state) };
    case 'refused': {
      const without = { ...state, streams: false };
      return { ...without, is: again(without) };
    }
    case 'incomplete':
    case 'broken': {
      const incomplete = state.incomplete + 1;
      if (incomplete < MAX_INCOMPLETE) return { ...state, incomplete };
      const without = { ...state, incomplete: 0, streams: false };
      return { ...without, is: again(without), streams: saw.kind === 'broken' };
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

function again({ streams, rv, newest = false }: Pick<ReflectorState, 'streams' | 'rv' | 'newest'>): Reflection {
  if (streams) return { at: 'streaming' };
  return { at: 'listing', what: rv !== '' ? 'known' : newest ? 'newest' : 'cached', inPages: true };
}
