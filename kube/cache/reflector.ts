import { ActionError, describeError, unreachable } from '../../base/errors.ts';
import { isExpired, isInvalidRequest, isTooNewVersion, retryAfterOf } from '../client/errors.ts';
import { freshPace, pace } from '../client/watch-pace.ts';
import { noReflectorMetrics } from './reflector-metrics.ts';
import { next, startOf } from './reflection.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import type { Client, ListQuery, WatchEvent, WatchQuery } from '../client/client.ts';
import type { Pace, Turn } from '../client/watch-pace.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import type { ListWhat, ReflectorState, Saw } from './reflection.ts';

/** Where what a reflector reads goes to. */
export interface Sink<T extends KubeObject> {
  /** What to keep of a listed item until the list is complete: as little as possible, as there may be 150,000 of them. */
  keep(item: T): T;
  /** These are all objects there are at this moment. */
  replace(items: readonly T[], signal: AbortSignal): Promise<void>;
  /** @param upTo - everything up to this version has been told. @returns 'lost' when only a new list can tell how things are */
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T, upTo: string): 'applied' | 'lost';
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
  /** Try watches that begin with the present state; servers without them are found out and listed instead. @default true */
  streams?: boolean;
}

/** The server ends a watch after 5 to 10 minutes, so that clients spread over its replicas again. */
const WATCH_SECONDS = { least: 300, spread: 300 };
/** A list of a hundred thousand objects takes its time. */
const LIST_TIMEOUT_MS: Millis = 60_000;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Keeps a sink equal to what the server has: lists, then watches, and lists again when it must. One per kind and selection. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions;
  readonly #sink: Sink<T>;
  readonly #metrics: ReflectorMetrics;
  readonly #log: Log;
  #state: ReflectorState;
  #pace: Pace = freshPace;

  constructor(options: ReflectorOptions, sink: Sink<T>) {
    this.#options = options;
    this.#sink = sink;
    this.#metrics = options.metrics ?? noReflectorMetrics;
    this.#log = options.log.with({ kind: options.resource.kind, ...options.selection });
    this.#state = startOf(options.streams ?? true);
  }

  /** Everything up to this resourceVersion has been given to the sink; '' before the first list. */
  get version(): string {
    return this.#state.rv;
  }

  /** Runs until the signal aborts, whatever the server does. Waits 0.5 to 30 s between failures. @throws what the sink throws, and nothing else */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const from = clock.monotonic();
      let waitMs: Millis;
      try {
        waitMs = await this.#request(signal, from);
      } catch (error) {
        if (error instanceof SinkFailure) throw error.cause;
        if (signal.aborted) return;
        waitMs = this.#failed(error, clock.monotonic() - from);
      }
      // Rejects only when the signal aborts, and then the loop ends.
      if (waitMs > 0) await clock.sleep(waitMs, signal).catch(() => {});
    }
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
      default:
        return unreachable(is);
    }
  }

  async #list(what: ListWhat, inPages: boolean, signal: AbortSignal, from: Millis): Promise<Millis> {
    const { client, resource, selection, pageSize = 500 } = this.#options;
    const items: T[] = [];
    const limit = inPages ? { limit: pageSize } : {};
    const options = { signal, timeoutMs: LIST_TIMEOUT_MS };
    let version = '';
    let page: ListQuery = { ...selection, ...limit, ...versionsOf(what, this.#state.rv) };
    for (let more = true; more;) {
      const metadata = await client.listEach<T>(resource, page, (item) => items.push(this.#kept(item)), options);
      if (signal.aborted) return 0;
      // All pages show the state of the first.
      if (version === '') version = metadata.resourceVersion ?? '';
      more = metadata.continue !== undefined && metadata.continue !== '';
      page = { ...selection, ...limit, continue: metadata.continue ?? '' };
    }
    return this.#complete(items, version, signal, from);
  }

  async #complete(items: readonly T[], version: string, signal: AbortSignal, from: Millis): Promise<Millis> {
    const after = next(this.#state, { kind: 'listed', rv: version });
    if (after.is.at !== 'watching') {
      const hint = `the answer is of version ${version}, and ${this.#state.rv} was seen before; it is asked again`;
      this.#state = after;
      return this.#failed(this.#problem('list', hint), 0);
    }
    await this.#give(() => this.#sink.replace(items, signal));
    // Only now: who looks at the version wants to know what the sink has.
    this.#state = after;
    this.#metrics.listed(items.length, this.#options.clock.monotonic() - from);
    this.#metrics.reached(version);
    this.#log.debug('listed', { items: items.length, version });
    return this.#turn({ kind: 'listed' });
  }

  async #watch(query: WatchQuery, signal: AbortSignal, from: Millis): Promise<Millis> {
    const { client, resource, selection, clock, random } = this.#options;
    const timeoutSeconds = Math.round(WATCH_SECONDS.least + random() * WATCH_SECONDS.spread);
    let events = 0;
    // Undefined once the present state is complete, and where it was not asked for.
    let pending = query.sendInitialEvents === true ? new Map<string, T>() : undefined;
    try {
      for await (const event of client.watch<T>(resource, { ...selection, ...query, timeoutSeconds }, signal)) {
        if (signal.aborted) return 0;
        events += 1;
        this.#turn({ kind: 'event' });
        if (pending === undefined) {
          if (this.#event(event) === 'lost') return this.#lost();
        } else if (event.type === 'BOOKMARK' && event.object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true') {
          const waitMs = await this.#complete([...pending.values()], event.object.metadata.resourceVersion ?? '', signal, from);
          if (this.#state.is.at !== 'watching') return waitMs;
          pending = undefined;
        } else this.#collect(pending, event);
      }
    } finally {
      this.#metrics.watched(events, clock.monotonic() - from);
    }
    if (signal.aborted) return 0;
    if (pending !== undefined) {
      this.#saw({ kind: 'incomplete' });
      return this.#failed(this.#problem('watch', 'it ended before the present state was complete'), clock.monotonic() - from);
    }
    this.#saw({ kind: 'closed' });
    const waitMs = this.#turn({ kind: 'ended', lastedMs: clock.monotonic() - from });
    if (waitMs > 0) this.#report(this.#problem('keep watching', 'the server ended the watch at once'), waitMs);
    return waitMs;
  }

  #event({ type, object }: WatchEvent & { object: T }): 'applied' | 'lost' {
    const rv = object.metadata.resourceVersion;
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        const outcome = this.#tell(() => this.#sink.apply(type, object, this.#state.rv));
        if (outcome === 'lost') return 'lost';
        this.#saw({ kind: 'changed', rv });
        break;
      }
      case 'BOOKMARK':
        this.#saw({ kind: 'bookmark', rv });
        break;
      case 'ERROR':
        return 'applied'; // the client throws it
      default:
        return unreachable(type);
    }
    this.#metrics.reached(this.#state.rv);
    return 'applied';
  }

  #lost(): Millis {
    this.#metrics.failed();
    this.#saw({ kind: 'lost' });
    const waitMs = this.#turn({ kind: 'expired' });
    this.#log.warn('the events of a watch came out of order, listing again', { version: this.#state.rv });
    return waitMs;
  }

  #collect(pending: Map<string, T>, { type, object }: WatchEvent & { object: T }): void {
    const { name = '', namespace = '' } = object.metadata;
    const key = `${namespace}/${name}`;
    if (type === 'ADDED' || type === 'MODIFIED') pending.set(key, this.#kept(object));
    else if (type === 'DELETED') pending.delete(key);
  }

  #failed(error: unknown, lastedMs: Millis): Millis {
    this.#metrics.failed();
    if (isExpired(error)) {
      this.#saw({ kind: 'expired' });
      const waitMs = this.#turn({ kind: 'expired' });
      // Once is everyday life; a server that says it again and again is in trouble.
      if (waitMs > 0) this.#report(error, waitMs);
      else this.#log.debug('expired, listing again');
      return waitMs;
    }
    if (this.#state.is.at === 'streaming' && isInvalidRequest(error)) {
      this.#saw({ kind: 'refused' });
      this.#log.debug('no watch begins with the present state here, listing instead');
      return 0;
    }
    this.#saw({ kind: isTooNewVersion(error) ? 'too-new' : 'failed' });
    const waitMs = this.#turn({ kind: 'failed', lastedMs, retryAfterMs: retryAfterOf(error) });
    this.#report(error, waitMs);
    return waitMs;
  }

  /** The first failure in a row is told to everybody, the others to those who look closely. */
  #report(error: unknown, waitMs: Millis): void {
    const { failures } = this.#pace;
    const fields = { error: describeError(error), failures, waitMs: Math.round(waitMs) };
    if (failures === 1) this.#log.warn('list or watch failed, trying again', fields);
    else this.#log.debug('list or watch failed again', fields);
  }

  #problem(action: string, hint: string): ActionError {
    return new ActionError(action, this.#options.resource.resource, { hint });
  }

  #kept(item: T): T {
    return this.#tell(() => this.#sink.keep(item));
  }

  #tell<R>(call: () => R): R {
    try {
      return call();
    } catch (cause) {
      throw new SinkFailure('the sink of a reflector failed', { cause });
    }
  }

  async #give(call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (cause) {
      throw new SinkFailure('the sink of a reflector failed', { cause });
    }
  }

  #saw(saw: Saw): void {
    this.#state = next(this.#state, saw);
  }

  #turn(turn: Turn): Millis {
    const { pace: after, waitMs } = pace(this.#pace, turn, this.#options.random);
    this.#pace = after;
    return waitMs;
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

/** Carries what a sink threw past the retries: our own mistake is not the server's. */
class SinkFailure extends Error {
  override name = 'SinkFailure';
}
