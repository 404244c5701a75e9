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

/** Where what a reflector reads goes to. */
export interface Sink<T extends KubeObject> {
  /**
   * What to keep of a listed item until the list is complete: as little as possible, as there may be 150,000 of them. What it throws costs that item
   * alone: it is left out, with a line in the log.
   */
  keep(item: T): T;
  /** The last state that was read of an object, for where its newest cannot be. */
  held(key: Key): T | undefined;
  /** These are all objects there are at `version`. When the signal aborts it may be left half done. */
  replace(items: readonly T[], version: string, signal: AbortSignal): Promise<void>;
  /** @param upTo - everything up to this version has been told. @returns 'lost' when only a new list can tell how things are. What it throws costs that event alone */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T, upTo: string): 'applied' | 'lost';
  /** Everything up to this version has been given, by `replace`, `apply` or without a change. */
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
  /** Shared by all caches of a process, so that they say once that their server cannot be reached. */
  outage?: Outage;
  /** Hears of objects that are left out, since they are too large or broke the sink; the last state that was read of them stays. Not at each event. */
  onIgnored?: (object: Ignored) => void;
  /** Try watches that begin with the present state; servers without them are found out and listed instead. @default true */
  streams?: boolean;
  /** The first state is what is stored when it is asked for, for those who have just written something. @default what the server has at hand, which may be old */
  newest?: boolean;
}

/** An object that the cache does without. */
export interface Ignored {
  metadata: Pick<ObjectMeta, 'name' | 'namespace' | 'uid'>;
  why: string;
}

/** A list of a hundred thousand objects takes its time. */
const LIST_TIMEOUT_MS: Millis = 60_000;
/** Silence in the middle of the present state: the server took `sendInitialEvents` for nothing, as those before 1.19 do, and has no end to tell. */
const QUIET_MS: Millis = 30_000;
/** Objects that are named when they cannot be cached; more of them say nothing new. */
const MAX_IGNORED_SAID = 1_000;
/** A watch that was taken and has lasted this long works, also where nothing happens that it could tell. */
const STANDS_MS: Millis = 5_000;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Keeps a sink equal to what the server has: lists, then watches, and lists again when it must. One per kind and selection. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions;
  readonly #sink: Sink<T>;
  readonly #metrics: ReflectorMetrics;
  readonly #log: Log;
  readonly #failures: FailureLog;
  /** Objects that were said to be ignored, so that each is said once; bounded. */
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

  /** It goes on from a version that the server is known to have reached: it neither lists, nor has to ask after a cut. */
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
   * Asks whether the server has reached what is known, for one object at most. A watch from a version that it has yet to reach is taken, and silent:
   * bookmarks, too, are held back until then.
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
    // To watch from no version is to miss what is deleted in between.
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
    // Undefined once the present state is complete, and where it was not asked for.
    let pending = query.sendInitialEvents === true ? new Map<Key, T>() : undefined;
    let standing = (): void => {};
    using patience = pending === undefined ? undefined : new Deadline(clock, QUIET_MS, signal);
    // It begins with the head of the answer: before that the client's own time counts, and a server that answers nothing says nothing of what it can.
    patience?.reset(undefined);
    try {
      const skipped = (what: TooLarge): void => (pending === undefined ? this.#passed(what) : this.#leftOut(pending, what));
      const opened = (): void => {
        if (pending === undefined) standing = clock.after(STANDS_MS, () => this.#failures.recovered());
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
          // A server that repeats itself up to where events are lost would be listed without a pause.
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
      // From its first event on, the server has shown that it can; what breaks again and again is better read in pages.
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
        return 'applied'; // the client throws it
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

  /** An event within the present state. No handler got it yet, so that only its own object counts. */
  #collect(pending: Map<Key, T>, { type, object }: WatchEvent & { object: T }): void {
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return;
    const key = objectKey(this.#checked(object));
    if (applyEvent(pending.get(key), type, object, '').length === 0) return;
    const kept = type === 'DELETED' ? undefined : this.#kept(object);
    if (kept === undefined) pending.delete(key);
    else pending.set(key, kept);
  }

  /** An object of the present state that is too large: the state of it that is held stays. */
  #leftOut(pending: Map<Key, T>, what: TooLarge): void {
    const held = this.#skipped(what);
    if (held !== undefined && what.type !== 'DELETED') pending.set(objectKey(held), held);
  }

  /** An event whose object is too large: of what it says only that the object ends is taken over, and its version, so that it is not asked for again. */
  #passed(what: TooLarge): void {
    const held = this.#skipped(what);
    const { type, metadata } = what;
    if (metadata === undefined) return;
    const there = held ?? this.#sink.held(objectKey({ metadata }));
    // Another object of that name, too large to be read: the one before it is gone.
    if (there !== undefined && (type === 'DELETED' || held === undefined)) {
      const last: T = { ...there, metadata: { ...there.metadata, ...metadata } };
      this.#applied('DELETED', last);
    }
    this.#saw({ kind: 'changed', rv: metadata.resourceVersion });
    handled(() => this.#sink.reached(this.#state.rv));
    this.#metrics.reached(this.#state.rv);
  }

  /** @returns the state of it that is held; undefined where there is none, or of another object of that name */
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
    if (this.#ignored.has(uid) || this.#ignored.size >= MAX_IGNORED_SAID) return;
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

  /** @throws {ActionError} for what no store can hold: one broken object must not pass for a deletion, nor end the process */
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

  /** @returns what is held where the new state cannot be kept */
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
