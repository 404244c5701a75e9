import type { KubeObject } from '../../kube/api/object.ts';
import type { Change } from '../storage/watch-log.ts';
import { type ApiRequest, isTrue, type ResourceRequest } from '../http/message.ts';
import { type ServedKind, storageName } from '../kinds/kind.ts';
import { storageKey } from '../storage/storage.ts';
import { expired, prohibited } from '../errors.ts';
import { type ReadRequest, badListOption, type Context, numberOf, selection, type Selection, staleVersion, versionOf } from './context.ts';

export type WatchEvent =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject }
  | { type: 'BOOKMARK'; version: number; initialEventsEnd: boolean }
  | { type: 'ERROR'; error: ReturnType<typeof expired> };

interface WatchPlan {
  chosen: Selection;
  namespace: string;
  /** Events start after this version. */
  from: number;
  /** Whether the watch starts with the current state. */
  initial: boolean;
  bookmarks: boolean;
  /** The bookmark that ends the initial events. */
  endsInitial: boolean;
  timeoutMs: number;
}

/** N of 1.N, the first release with `sendInitialEvents`. */
const STREAMS_SINCE = 27;

// Maximum number of events per batch, so that a watch that is far behind does not block the event loop.
const BATCH = 500;

// The last bookmark comes this long before the end.
const LAST_BOOKMARK_MS = 1000;

/**
 * The changes of a kind from a resourceVersion on, in batches, until the timeout or the client disconnects.
 * Unset or 0: the current state first. Older than the remembered changes: one ERROR event, 410.
 * @throws StatusError 400 before the first event
 */
export function watchObjects(
  context: Context,
  served: ServedKind,
  request: ResourceRequest,
  from: ApiRequest,
): AsyncIterable<readonly WatchEvent[]> {
  return run(context, served, watchPlan(context, served, request, from), from.signal);
}

function watchPlan(context: Context, served: ServedKind, request: ResourceRequest, from: ReadRequest): WatchPlan {
  const { query } = from;
  const version = versionOf(query);
  // An older server ignores the unknown parameter, and then rejects resourceVersionMatch, which requires it.
  const sendInitialEvents = context.registry.release < STREAMS_SINCE ? null : query.get('sendInitialEvents');
  const match = query.get('resourceVersionMatch') ?? '';
  if (sendInitialEvents !== null && match !== 'NotOlderThan') {
    throw badListOption(prohibited('sendInitialEvents', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (sendInitialEvents === null && match !== '') {
    throw badListOption(
      prohibited('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    );
  }
  const initial = sendInitialEvents === null ? version === undefined || version === 0 : isTrue(sendInitialEvents);
  const seconds = numberOf(query, 'timeoutSeconds');
  const now = staleVersion(context.storage, storageName(served.kind), from) ?? context.storage.version;
  return {
    chosen: selection(served, query),
    namespace: request.namespace,
    from: initial || version === undefined || version === 0 ? now : version,
    initial,
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    endsInitial: sendInitialEvents !== null && isTrue(sendInitialEvents) && isTrue(query.get('allowWatchBookmarks')),
    // Default timeout, as on a real server: half an hour to an hour.
    timeoutMs: seconds > 0 ? seconds * 1000 : 1_800_000 * (1 + context.random()),
  };
}

async function* run(context: Context, served: ServedKind, plan: WatchPlan, signal: AbortSignal): AsyncGenerator<readonly WatchEvent[]> {
  const { storage, clock } = context;
  const name = storageName(served.kind);
  const log = storage.log(name);
  let cursor = plan.from;
  const key = onlyKey(served, plan);
  // A version from an earlier process: the changes since then are unknown.
  if (cursor > storage.version) {
    yield [{ type: 'ERROR', error: expired(`too old resource version: ${cursor} (${storage.version})`) }];
    return;
  }
  if (plan.initial) {
    const namespace = plan.namespace === '' ? undefined : plan.namespace;
    const { objects, version } = storage.listAt(name, cursor, namespace) ?? storage.list(name, namespace);
    cursor = version;
    const chosen = objects.filter(plan.chosen.matches);
    for (let at = 0; at < chosen.length; at += BATCH) yield chosen.slice(at, at + BATCH).map((object) => ({ type: 'ADDED', object }));
    if (plan.endsInitial) yield [{ type: 'BOOKMARK', version, initialEventsEnd: true }];
  }
  const started = clock.monotonic();
  const ends = started + plan.timeoutMs;
  let bookmarkAt = started + context.bookmarkMs;
  // A short watch gets its bookmark after half of its time.
  let lastBookmarkAt = ends - Math.min(LAST_BOOKMARK_MS, plan.timeoutMs / 2);
  while (!signal.aborted) {
    const changes = log.after(cursor, BATCH);
    if (changes === undefined) {
      yield [{ type: 'ERROR', error: expired(`too old resource version: ${cursor} (${log.forgotten})`) }];
      return;
    }
    const newest = changes.at(-1)?.version;
    if (newest !== undefined) {
      cursor = newest;
      const events = changes.flatMap((change) => seenBy(plan, change));
      if (events.length > 0) yield events;
      continue;
    }
    // No change of this kind up to this version.
    cursor = storage.version;
    const now = clock.monotonic();
    if (now >= ends) return;
    if (plan.bookmarks && (now >= bookmarkAt || now >= lastBookmarkAt)) {
      if (now >= lastBookmarkAt) lastBookmarkAt = Infinity;
      bookmarkAt = now + context.bookmarkMs;
      yield [{ type: 'BOOKMARK', version: cursor, initialEventsEnd: false }];
      continue;
    }
    const wake = plan.bookmarks ? Math.min(ends, bookmarkAt, lastBookmarkAt) : ends;
    cursor = (await changeOr(context, name, { ms: wake - now, key, signal })) ?? cursor;
  }
}

/** The events of a change for a selection: an object that starts to match is ADDED, one that stops matching is DELETED. */
function seenBy(plan: WatchPlan, change: Change): WatchEvent[] {
  if (plan.namespace !== '' && change.object.metadata.namespace !== plan.namespace) return [];
  const { matches } = plan.chosen;
  const before = change.previous !== undefined && matches(change.previous);
  const after = change.type !== 'DELETED' && matches(change.object);
  if (after) return [{ type: before ? 'MODIFIED' : 'ADDED', object: change.object }];
  if (!before || change.previous === undefined) return [];
  const { resourceVersion = '' } = change.object.metadata;
  // The last matching state, with the version at which the object stopped matching.
  return [{ type: 'DELETED', object: { ...change.previous, metadata: { ...change.previous.metadata, resourceVersion } } }];
}

// Shared: creating an error for every wait costs more than the wait.
const awake = new Error('woken');

/** The key of the only object that can match; undefined if the watch selects no single object. */
function onlyKey({ kind }: ServedKind, { chosen, namespace }: WatchPlan): string | undefined {
  if (chosen.name === undefined || (kind.namespaced && namespace === '')) return undefined;
  return storageKey(kind.namespaced ? namespace : '', chosen.name);
}

/**
 * Resolves at the next change of the kind, or of one of its objects, after `ms`, or when the signal aborts; then removes its listeners.
 * @param key - key of the object. @default any
 * @returns the version up to which nothing has changed; undefined: unknown
 */
async function changeOr(
  context: Context,
  name: string,
  { ms, key, signal }: { ms: number; key: string | undefined; signal: AbortSignal },
): Promise<number | undefined> {
  const woken = new AbortController();
  let by: { version: number | undefined } | undefined;
  const wake = () => woken.abort(awake);
  signal.addEventListener('abort', wake, { once: true });
  const forget = context.storage.log(name).onNext((change) => {
    by = { version: change && change.version - 1 };
    wake();
  }, key);
  try {
    if (!signal.aborted) await context.clock.sleep(ms, woken.signal);
    return by === undefined ? context.storage.version : by.version;
  } catch (error) {
    if (!woken.signal.aborted) throw error;
    return by?.version;
  } finally {
    forget();
    signal.removeEventListener('abort', wake);
  }
}
