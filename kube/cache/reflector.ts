import { ActionError, describeError, unreachable } from '../../base/errors.ts';
import { Deadline } from '../client/limits.ts';
import { isExpired, isInvalidRequest, isTooNewVersion, isUnanswered } from '../client/errors.ts';
import { handled, handledAsync, WatchLoop } from '../client/watch-loop.ts';
import { applyEvent, isOlder } from './change.ts';
import { type Key, objectKey } from './contract.ts';
import { FailureLog, noReflectorMetrics, type Outage, type Problem, type ReflectorMetrics } from './failure-log.ts';
import { type ListWhat, next, type ReflectorState, type Saw, startOf } from './reflection.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { KubeObject, ObjectMeta, Resource } from '../api/object.ts';
import type { Client, ListQuery, WatchEvent, WatchQuery } from '../client/client.ts';
import type { TooLarge } from '../client/json-bytes.ts';

/** Receives the objects that a reflector reads. */
export interface Sink<T extends KubeObject> {
  /**
   * Returns what to keep of a listed item until the list is complete: as little as possible, since there may be 150,000 items. When this throws, only that
   * item is left out, with a line in the log.
   */
  keep(item: T): T;
  /** The stored state of an object, used where its newest state cannot be read or stored. */
  held(key: Key): T | undefined;
  /** `items` are all objects at `version`. When the signal aborts, the replacement may be left half done. */
  replace(items: readonly T[], version: string, signal: AbortSignal): Promise<void>;
  /** @param upTo - the sink is complete up to this version. @returns 'lost' when only a relist helps. When this throws, only that event is skipped */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T, upTo: string): 'applied' | 'lost';
  /** The sink is complete up to this version: by `replace`, by `apply`, or without a change. */
  reached(version: string): void;
}

/** Which objects of a kind. */
export type Selection = Pick<ListQuery, 'namespace' | 'labelSelector' | 'fieldSelector'>;

export interface ReflectorOptions {
  resource: Resource;
  selection?: Selection;
  client: Pick<Client, 'listEach' | 'watch'>;
  clock: Clock;
  random: Random;
  log: Log;
  metrics?: ReflectorMetrics;
  /** Objects per page of a list. @default 500 */
  pageSize?: number;
  /** Shared by all caches of a process, so that an unreachable server is logged once. */
  outage?: Outage;
  /** Called once for each object that is left out because it is too large or the sink threw; its stored state stays. */
  onIgnored?: (object: Ignored) => void;
  /** Try watches with `sendInitialEvents`; a server without them is detected and listed instead. @default true */
  streams?: boolean;
  /** The first list is the newest state, for readers that have just written. @default from the server's watch cache, which may be stale */
  newest?: boolean;
}

/** An object whose newest state the cache leaves out. */
export interface Ignored {
  metadata: Pick<ObjectMeta, 'name' | 'namespace' | 'uid'>;
  why: string;
}

/** Long enough for a list of 100,000 objects. */
const LIST_TIMEOUT_MS: Millis = 60_000;
/** Silence before the current state is complete: the server ignored `sendInitialEvents`, as servers before 1.19 do, and will not send the end bookmark. */
const QUIET_MS: Millis = 30_000;
/** Objects that are logged by name when they cannot be cached; further names add nothing. */
const MAX_IGNORED_LOGGED = 1_000;
/** An accepted watch that has lasted this long counts as working, even without an event. */
const WATCH_WORKS_MS: Millis = 5_000;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Keeps a sink in sync with the server: lists, watches, and relists when needed. One per kind and selection. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions;
  readonly #sink: Sink<T>;
  readonly #metrics: ReflectorMetrics;
  readonly #log: Log;
  readonly #failures: FailureLog;
  /** UIDs of the objects that were logged as ignored, so that each is logged once; bounded. */
  readonly #ignored = new Set<string>();
  readonly #loop: WatchLoop;
  #state: ReflectorState;

  constructor(options: ReflectorOptions, sink: Sink<T>) {
    this.#options = options;
    this.#sink = sink;
    this.#loop = new WatchLoop(options);
    this.#metrics = options.metrics ?? noReflectorMetrics;
    this.#log = options.log.with({ kind: options.resource.kind, ...options.selection });
    this.#failures = new FailureLog(options.clock, this.#log, options.resource, options.outage);
    this.#state = startOf(options.streams ?? true, options.newest);
  }

  /** What failed last; undefined while all is well. */
  get problem(): Problem | undefined {
    return this.#failures.problem;
  }

  /** The watch continues from a version that the server is known to have reached: neither a list nor a check after a cut is pending. */
  get watches(): boolean {
    return this.#state.is.at === 'watching';
  }

  /** Runs until the signal aborts, whatever the server does. Waits 0.5 to 30 s between failures. @throws what `replace` or `reached` of the sink throw, and nothing else */
  run(signal: AbortSignal): Promise<void> {
    const next = (from: Millis): Promise<Millis> => this.#request(signal, from);
    return this.#loop.run({ next, failed: (error, lastedMs) => this.#failed(error, lastedMs) }, signal);
  }

  #request(signal: AbortSignal, from: Millis): Promise<Millis> {
    const { is, rv } = this.#state;
    switch (is.at) {
      case 'streaming':
        return this.#watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', ...versionOf(rv) }, signal, from);
      case 'listing':
        return this.#list(is.what, is.inPages, signal, from);
      case 'watching':
        return this.#watch(versionOf(rv), signal, from);
      case 'checking':
        return this.#check(signal);
      default:
        return unreachable(is);
    }
  }

  /**
   * Lists one object to see whether the server has reached the known version. A server accepts a watch from a version that it has not reached, and sends
   * nothing until then, not even bookmarks.
   */
  async #check(signal: AbortSignal): Promise<Millis> {
    const { client, resource, selection } = this.#options;
    const { rv } = this.#state;
    const page = { ...selection, limit: 1, ...versionsOf('known', rv) };
    const { resourceVersion = '' } = await client.listEach<T>(resource, page, () => {}, { signal, timeoutMs: LIST_TIMEOUT_MS });
    if (signal.aborted) return 0;
    this.#saw({ kind: resourceVersion !== '' && isOlder(resourceVersion, rv) ? 'too-new' : 'reached' });
    return 0;
  }

  async #list(what: ListWhat, inPages: boolean, signal: AbortSignal, from: Millis): Promise<Millis> {
    const { client, resource, selection, pageSize = 500 } = this.#options;
    const items: T[] = [];
    const limit = inPages ? { limit: pageSize } : {};
    const keep = (item: T | undefined): void => void (item !== undefined && items.push(item));
    const options = { signal, timeoutMs: LIST_TIMEOUT_MS, skipped: (what: TooLarge) => keep(this.#skipped(what)) };
    let version = '';
    let token = '';
    let page: ListQuery = { ...selection, ...limit, ...versionsOf(what, this.#state.rv) };
    for (let more = true; more;) {
      const metadata = await client.listEach<T>(resource, page, (item) => keep(this.#kept(this.#checked(item))), options);
      if (signal.aborted) return 0;
      // All pages show the state of the first.
      if (version === '') version = metadata.resourceVersion ?? '';
      const { continue: following = '' } = metadata;
      more = following !== '';
      if (more && following === token) throw this.#problemWith('list', 'the server returns the same page again and again');
      token = following;
      page = { ...selection, ...limit, continue: token };
    }
    return this.#complete(items, version, signal, from);
  }

  async #complete(items: readonly T[], version: string, signal: AbortSignal, from: Millis): Promise<Millis> {
    // A watch without a version would miss deletions between the list and the watch.
    if (version === '') throw this.#problemWith('list', 'the answer has no resourceVersion, so a watch cannot start from it');
    const after = next(this.#state, { kind: 'listed', rv: version });
    if (after.is.at !== 'watching') {
      const hint = `the list is of version ${version}, older than ${this.#state.rv}, which was seen before; listing again`;
      this.#state = after;
      return this.#failed(this.#problemWith('list', hint), 0);
    }
    await handledAsync(() => this.#sink.replace(items, version, signal));
    if (signal.aborted) return 0;
    this.#state = after;
    this.#failures.recovered();
    this.#metrics.listed(items.length, this.#options.clock.monotonic() - from);
    this.#metrics.reached(version);
    this.#log.debug('listed', { items: items.length, version });
    return this.#loop.turn({ kind: 'listed' });
  }

  async #watch(query: WatchQuery, signal: AbortSignal, from: Millis): Promise<Millis> {
    const { client, resource, selection, clock } = this.#options;
    let events = 0;
    // The current state so far; undefined once complete, and where it was not requested.
    let pending = query.sendInitialEvents === true ? new Map<Key, T>() : undefined;
    let standing = (): void => {};
    using patience = pending === undefined ? undefined : new Deadline(clock, QUIET_MS, signal);
    // The deadline starts with the response headers: before them the client's own timeout applies, and a server that does not answer may still support it.
    patience?.reset(undefined);
    try {
      const skipped = (what: TooLarge): void => (pending === undefined ? this.#passed(what) : this.#leftOut(pending, what));
      const opened = (): void => {
        if (pending === undefined) standing = clock.after(WATCH_WORKS_MS, () => this.#failures.recovered());
        else patience?.reset(QUIET_MS);
      };
      const asked = { ...selection, ...query, timeoutSeconds: this.#loop.timeoutSeconds(), stripManagedFields: true, skipped, opened };
      for await (const event of client.watch<T>(resource, asked, patience?.signal ?? signal)) {
        if (signal.aborted) return 0;
        events += 1;
        if (pending === undefined) {
          const { rv } = this.#state;
          if (this.#event(event) === 'lost') return this.#lost();
          this.#failures.recovered();
          // Only a newer version resets the backoff: a server that repeats old events before one is lost would be relisted without a pause.
          if (this.#state.rv !== rv) this.#loop.turn({ kind: 'event' });
        } else if (event.type === 'BOOKMARK' && event.object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true') {
          patience?.reset(undefined);
          const waitMs = await this.#complete([...pending.values()], event.object.metadata.resourceVersion ?? '', signal, from);
          if (this.#state.is.at !== 'watching') return waitMs;
          pending = undefined;
        } else if (event.type !== 'BOOKMARK') {
          patience?.touch();
          this.#collect(pending, event);
        }
      }
    } catch (error) {
      if (pending === undefined || signal.aborted) throw error;
      if (patience?.signal.aborted === true) return this.#refused();
      // The first event shows that the server supports streaming; where the connection keeps breaking, pages are tried instead.
      if (pending.size > 0 && !isExpired(error)) this.#saw({ kind: 'broken' });
      throw error;
    } finally {
      standing();
      this.#metrics.watched(events, clock.monotonic() - from);
    }
    if (signal.aborted) return 0;
    if (pending !== undefined) {
      this.#saw({ kind: 'incomplete' });
      return this.#failed(this.#problemWith('watch', 'it ended before the current state was complete'), clock.monotonic() - from);
    }
    this.#saw({ kind: 'closed' });
    const waitMs = this.#loop.turn({ kind: 'ended', lastedMs: clock.monotonic() - from });
    if (waitMs > 0) this.#report(this.#problemWith('keep watching', 'the server ended the watch at once'), waitMs);
    else this.#failures.recovered();
    return waitMs;
  }

  #event({ type, object }: WatchEvent & { object: T }): 'applied' | 'lost' {
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        this.#checked(object);
        if (this.#applied(type, object) === 'lost') return 'lost';
        this.#saw({ kind: 'changed', rv: object.metadata.resourceVersion });
        break;
      }
      case 'BOOKMARK':
        this.#saw({ kind: 'bookmark', rv: object.metadata.resourceVersion });
        break;
      case 'ERROR':
        return 'applied'; // the client throws such events
      default:
        return unreachable(type);
    }
    handled(() => this.#sink.reached(this.#state.rv));
    this.#metrics.reached(this.#state.rv);
    return 'applied';
  }

  #lost(): Millis {
    this.#metrics.failed();
    this.#saw({ kind: 'lost' });
    const waitMs = this.#loop.turn({ kind: 'expired' });
    this.#log.warn('watch events came out of order, listing again', { version: this.#state.rv });
    return waitMs;
  }

  /** An event of the current state. Handlers have not seen the object yet, so only the newest collected event of it counts. */
  #collect(pending: Map<Key, T>, { type, object }: WatchEvent & { object: T }): void {
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return;
    const key = objectKey(this.#checked(object));
    if (applyEvent(pending.get(key), type, object, '').length === 0) return;
    const kept = type === 'DELETED' ? undefined : this.#kept(object);
    if (kept === undefined) pending.delete(key);
    else pending.set(key, kept);
  }

  /** An object of the current state that is too large: its stored state stays. */
  #leftOut(pending: Map<Key, T>, what: TooLarge): void {
    const held = this.#skipped(what);
    if (held !== undefined && what.type !== 'DELETED') pending.set(objectKey(held), held);
  }

  /** An event whose object is too large: only a deletion is applied, and the version, so that the next watch starts after this event. */
  #passed(what: TooLarge): void {
    const held = this.#skipped(what);
    const { type, metadata } = what;
    if (metadata === undefined) return;
    const there = held ?? this.#sink.held(objectKey({ metadata }));
    // A new object of that name, too large to be read: its predecessor was deleted.
    if (there !== undefined && (type === 'DELETED' || held === undefined)) {
      const last: T = { ...there, metadata: { ...there.metadata, ...metadata } };
      this.#applied('DELETED', last);
    }
    this.#saw({ kind: 'changed', rv: metadata.resourceVersion });
    handled(() => this.#sink.reached(this.#state.rv));
    this.#metrics.reached(this.#state.rv);
  }

  /** @returns the stored state of the object; undefined where there is none, or only one of another object with that name */
  #skipped({ of, metadata }: TooLarge): T | undefined {
    this.#ignore(metadata ?? {}, `it has more ${of} than this client accepts`);
    const held = metadata === undefined ? undefined : this.#sink.held(objectKey({ metadata }));
    return held?.metadata.uid === metadata?.uid ? held : undefined;
  }

  #applied(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): 'applied' | 'lost' {
    try {
      return this.#sink.apply(type, object, this.#state.rv);
    } catch (error) {
      this.#ignore(object.metadata, describeError(error));
      return 'applied';
    }
  }

  #ignore(metadata: Ignored['metadata'], why: string): void {
    const { uid = '' } = metadata;
    if (this.#ignored.has(uid) || this.#ignored.size >= MAX_IGNORED_LOGGED) return;
    this.#ignored.add(uid);
    const object = metadata.name === undefined ? 'unknown' : objectKey({ metadata });
    this.#log.error('failed to cache an object, keeping its previous version', { object, uid, why });
    this.#options.onIgnored?.({ metadata, why });
  }

  #refused(): Millis {
    this.#saw({ kind: 'refused' });
    this.#log.debug('the API server does not support streaming lists, listing instead');
    return 0;
  }

  #failed(error: unknown, lastedMs: Millis): Millis {
    this.#metrics.failed();
    if (this.#state.is.at === 'streaming' && isInvalidRequest(error)) return this.#refused();
    this.#saw({ kind: isExpired(error) ? 'expired' : isTooNewVersion(error) ? 'too-new' : isUnanswered(error) ? 'cut' : 'failed' });
    const { waitMs, isRoutine } = this.#loop.afterFailure(error, lastedMs);
    if (isRoutine) this.#log.debug('expired, listing again');
    else this.#report(error, waitMs);
    return waitMs;
  }

  #report(error: unknown, waitMs: Millis): void {
    this.#failures.failed(error, { failures: this.#loop.failures, waitMs });
  }

  #problemWith(action: string, hint: string): ActionError {
    return new ActionError(action, this.#options.resource.resource, { hint });
  }

  /** @throws {ActionError} for an object that cannot be stored: it must neither look like a deletion nor end the process */
  #checked(object: T): T {
    const { name, namespace = '', uid = '', resourceVersion = '' } = object.metadata as Readonly<Record<string, unknown>>;
    const texts = [name, namespace, uid, resourceVersion];
    if (name === '' || texts.some((text) => typeof text !== 'string'))
      throw this.#problemWith(
        'read',
        'the server sent one without a name, or with metadata that is not text; is this a Kubernetes API server?',
      );
    return object;
  }

  /** @returns the stored state where the new state cannot be kept */
  #kept(item: T): T | undefined {
    try {
      return this.#sink.keep(item);
    } catch (error) {
      this.#ignore(item.metadata, describeError(error));
      const held = this.#sink.held(objectKey(item));
      return held?.metadata.uid === item.metadata.uid ? held : undefined;
    }
  }

  #saw(saw: Saw): void {
    this.#state = next(this.#state, saw);
  }
}

function versionOf(rv: string): { resourceVersion?: string } {
  return rv === '' ? {} : { resourceVersion: rv };
}

function versionsOf(what: ListWhat, rv: string): Pick<ListQuery, 'resourceVersion' | 'resourceVersionMatch'> {
  switch (what) {
    case 'cached':
      return { resourceVersion: '0' };
    case 'known':
      return { resourceVersion: rv, resourceVersionMatch: 'NotOlderThan' };
    case 'newest':
      return {};
    default:
      return unreachable(what);
  }
}
