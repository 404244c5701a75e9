import { ActionError, unreachable } from '../../base/errors.ts';
import { Deadline } from '../client/deadline.ts';
import { isExpired, isInvalidRequest, isTooNewVersion, retryAfterOf } from '../client/errors.ts';
import { freshPace, pace } from '../client/watch-pace.ts';
import { heard } from './change.ts';
import { objectKey } from './contract.ts';
import { noReflectorMetrics } from './reflector-metrics.ts';
import { next, startOf } from './reflection.ts';
import { Trouble } from './trouble.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import type { Client, ListQuery, WatchEvent, WatchQuery } from '../client/client.ts';
import type { Pace, Turn } from '../client/watch-pace.ts';
import type { ReflectorMetrics } from './reflector-metrics.ts';
import type { Key } from './contract.ts';
import type { ListWhat, ReflectorState, Saw } from './reflection.ts';
import type { Problem } from './trouble.ts';

/** Where what a reflector reads goes to. */
export interface Sink<T extends KubeObject> {
  /** What to keep of a listed item until the list is complete: as little as possible, as there may be 150,000 of them. */
  keep(item: T): T;
  /** These are all objects there are at `version`. When the signal aborts it may be left half done. */
  replace(items: readonly T[], version: string, signal: AbortSignal): Promise<void>;
  /** @param upTo - everything up to this version has been told. @returns 'lost' when only a new list can tell how things are */
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
  /** Try watches that begin with the present state; servers without them are found out and listed instead. @default true */
  streams?: boolean;
}

/** The server ends a watch after 5 to 10 minutes, so that clients spread over its replicas again. */
const WATCH_SECONDS = { least: 300, spread: 300 };
/** A list of a hundred thousand objects takes its time. */
const LIST_TIMEOUT_MS: Millis = 60_000;
/** Silence in the middle of the present state: the server took `sendInitialEvents` for nothing, as those before 1.19 do, and has no end to tell. */
const QUIET_MS: Millis = 30_000;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Keeps a sink equal to what the server has: lists, then watches, and lists again when it must. One per kind and selection. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions;
  readonly #sink: Sink<T>;
  readonly #metrics: ReflectorMetrics;
  readonly #log: Log;
  readonly #trouble: Trouble;
  #state: ReflectorState;
  #pace: Pace = freshPace;

  constructor(options: ReflectorOptions, sink: Sink<T>) {
    this.#options = options;
    this.#sink = sink;
    this.#metrics = options.metrics ?? noReflectorMetrics;
    this.#log = options.log.with({ kind: options.resource.kind, ...options.selection });
    this.#trouble = new Trouble(options.clock, this.#log, options.resource);
    this.#state = startOf(options.streams ?? true);
  }

  /** What failed last; undefined while all is well. */
  get problem(): Problem | undefined {
    return this.#trouble.problem;
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
        const failure = sinkFailureIn(error);
        if (failure !== undefined) throw failure.cause;
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
    let token = '';
    let page: ListQuery = { ...selection, ...limit, ...versionsOf(what, this.#state.rv) };
    for (let more = true; more;) {
      const metadata = await client.listEach<T>(resource, page, (item) => items.push(this.#kept(this.#checked(item))), options);
      if (signal.aborted) return 0;
      // All pages show the state of the first.
      if (version === '') version = metadata.resourceVersion ?? '';
      const { continue: following = '' } = metadata;
      more = following !== '';
      if (more && following === token) throw this.#problemWith('list', 'the server answers with the same page for ever');
      token = following;
      page = { ...selection, ...limit, continue: token };
    }
    return this.#complete(items, version, signal, from);
  }

  async #complete(items: readonly T[], version: string, signal: AbortSignal, from: Millis): Promise<Millis> {
    // To watch from no version is to miss what is deleted in between.
    if (version === '') throw this.#problemWith('list', 'the answer has no resourceVersion, so that nothing can follow it');
    const after = next(this.#state, { kind: 'listed', rv: version });
    if (after.is.at !== 'watching') {
      const hint = `the answer is of version ${version}, and ${this.#state.rv} was seen before; it is asked again`;
      this.#state = after;
      return this.#failed(this.#problemWith('list', hint), 0);
    }
    await this.#give(() => this.#sink.replace(items, version, signal));
    if (signal.aborted) return 0;
    this.#state = after;
    this.#trouble.over();
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
    let pending = query.sendInitialEvents === true ? new Map<Key, T>() : undefined;
    using patience = pending === undefined ? undefined : new Deadline(clock, QUIET_MS, signal);
    try {
      const asked = { ...selection, ...query, timeoutSeconds, lean: true };
      for await (const event of client.watch<T>(resource, asked, patience?.signal ?? signal)) {
        if (signal.aborted) return 0;
        events += 1;
        if (pending === undefined) {
          const { rv } = this.#state;
          if (this.#event(event) === 'lost') return this.#lost();
          this.#trouble.over();
          // A server that repeats itself up to where events are lost would be listed without a pause.
          if (this.#state.rv !== rv) this.#turn({ kind: 'event' });
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
      this.#metrics.watched(events, clock.monotonic() - from);
    }
    if (signal.aborted) return 0;
    if (pending !== undefined) {
      this.#saw({ kind: 'incomplete' });
      return this.#failed(this.#problemWith('watch', 'it ended before the present state was complete'), clock.monotonic() - from);
    }
    this.#saw({ kind: 'closed' });
    const waitMs = this.#turn({ kind: 'ended', lastedMs: clock.monotonic() - from });
    if (waitMs > 0) this.#report(this.#problemWith('keep watching', 'the server ended the watch at once'), waitMs);
    else this.#trouble.over();
    return waitMs;
  }

  #event({ type, object }: WatchEvent & { object: T }): 'applied' | 'lost' {
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        this.#checked(object);
        const outcome = this.#tell(() => this.#sink.apply(type, object, this.#state.rv));
        if (outcome === 'lost') return 'lost';
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
    this.#tell(() => this.#sink.reached(this.#state.rv));
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

  /** An event within the present state. Nothing was told of it, so that only what it says of its own object counts. */
  #collect(pending: Map<Key, T>, { type, object }: WatchEvent & { object: T }): void {
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return;
    const key = objectKey(this.#checked(object));
    if (heard(pending.get(key), type, object, '').length === 0) return;
    if (type === 'DELETED') pending.delete(key);
    else pending.set(key, this.#kept(object));
  }

  #refused(): Millis {
    this.#saw({ kind: 'refused' });
    this.#log.debug('no watch begins with the present state here, listing instead');
    return 0;
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
    if (this.#state.is.at === 'streaming' && isInvalidRequest(error)) return this.#refused();
    this.#saw({ kind: isTooNewVersion(error) ? 'too-new' : 'failed' });
    const waitMs = this.#turn({ kind: 'failed', lastedMs, retryAfterMs: retryAfterOf(error) });
    this.#report(error, waitMs);
    return waitMs;
  }

  #report(error: unknown, waitMs: Millis): void {
    this.#trouble.met(error, { failures: this.#pace.failures, waitMs });
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
        'the server sent one without a name, or with metadata that is no text; is this a Kubernetes API server?',
      );
    return object;
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

/** A client takes what is thrown into its reading for trouble of its own, and wraps it. */
function sinkFailureIn(error: unknown): SinkFailure | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof SinkFailure) return at;
  return undefined;
}
