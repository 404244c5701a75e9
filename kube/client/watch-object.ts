import { ActionError, describeError, unreachable } from '../../base/errors.ts';
import { escapeFieldValue } from '../api/selector.ts';
import { isExpired, retryAfterOf, TransportError } from './errors.ts';
import { learn, next } from './watch-machine.ts';
import { freshPace, pace } from './watch-pace.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import type { Client, ObjectRef, WatchEvent } from './client.ts';
import type { Known, Saw, Watch } from './watch-machine.ts';
import type { Pace, Turn } from './watch-pace.ts';

/** What a single-object watch knows. `undefined` object: the server says that it does not exist. */
export interface Seen<T extends KubeObject> {
  object: T | undefined;
}

export interface ObjectWatchHandlers<T extends KubeObject> {
  /** The first complete list, and every change after it (also "gone" and "back"). Unchanged resourceVersions are not repeated. */
  onSeen(seen: Seen<T>): void;
  /** A failure that the watch survives; it backs off and tries again. `failures` counts in a row. */
  onFailure?(error: unknown, failures: number): void;
}

export interface WatchDeps {
  client: Pick<Client, 'list' | 'watch'>;
  clock: Clock;
  random: Random;
  log: Log;
}

/**
 * Watches one object until the signal aborts. Lists first (field selector metadata.name), then watches with bookmarks; 410 lists again.
 * Waits 0.5 to 30 s between failures, longer where the server asks for it; returns quietly when the signal aborts.
 * @throws what a handler throws, and nothing else
 */
export type WatchObject = <T extends KubeObject>(
  deps: WatchDeps,
  resource: Resource,
  ref: ObjectRef,
  handlers: ObjectWatchHandlers<T>,
  signal: AbortSignal,
) => Promise<void>;

/** The server ends a watch after 5 to 10 minutes, so that a fleet spreads over its replicas again. */
const WATCH_SECONDS = { least: 300, spread: 300 };

export const watchObject: WatchObject = (deps, resource, ref, handlers, signal) =>
  new ObjectWatch(deps, resource, ref, handlers, signal).run();

class ObjectWatch<T extends KubeObject> {
  readonly #deps: WatchDeps;
  readonly #resource: Resource;
  readonly #ref: ObjectRef;
  readonly #handlers: ObjectWatchHandlers<T>;
  readonly #signal: AbortSignal;
  readonly #log: Log;
  #state: Watch = { at: 'relisting' };
  #known: Known = 'unknown';
  #pace: Pace = freshPace;

  constructor(deps: WatchDeps, resource: Resource, ref: ObjectRef, handlers: ObjectWatchHandlers<T>, signal: AbortSignal) {
    this.#deps = deps;
    this.#resource = resource;
    this.#ref = ref;
    this.#handlers = handlers;
    this.#signal = signal;
    this.#log = deps.log.with({ kind: resource.kind, ...ref });
  }

  async run(): Promise<void> {
    try {
      await this.#loop();
    } catch (error) {
      throw error instanceof HandlerFailure ? error.cause : error;
    }
  }

  async #loop(): Promise<void> {
    const { clock } = this.#deps;
    while (!this.#signal.aborted) {
      const from = clock.monotonic();
      let waitMs: number;
      try {
        if (this.#state.at === 'relisting') waitMs = await this.#list();
        else waitMs = await this.#watch(this.#state.rv, from);
      } catch (error) {
        if (error instanceof HandlerFailure) throw error;
        if (this.#signal.aborted) return;
        waitMs = this.#failed(error, clock.monotonic() - from);
      }
      // Rejects only when the signal aborts, and then the loop ends.
      if (waitMs > 0) await clock.sleep(waitMs, this.#signal).catch(() => {});
    }
  }

  async #list(): Promise<number> {
    const { items, metadata } = await this.#deps.client.list<T>(this.#resource, this.#query(), { signal: this.#signal });
    if (this.#signal.aborted) return 0;
    this.#tell(items.find((item) => this.#isOurs(item)));
    this.#saw({ kind: 'listed', rv: metadata.resourceVersion ?? '' });
    return this.#turn({ kind: 'listed' });
  }

  async #watch(rv: string, from: number): Promise<number> {
    const timeoutSeconds = Math.round(WATCH_SECONDS.least + this.#deps.random() * WATCH_SECONDS.spread);
    const query = { ...this.#query(), ...(rv === '' ? {} : { resourceVersion: rv }), timeoutSeconds };
    for await (const event of this.#deps.client.watch<T>(this.#resource, query, this.#signal)) {
      if (this.#signal.aborted) return 0;
      this.#turn({ kind: 'event' });
      this.#event(event);
    }
    if (this.#signal.aborted) return 0;
    this.#saw({ kind: 'closed' });
    const waitMs = this.#turn({ kind: 'ended', lastedMs: this.#deps.clock.monotonic() - from });
    if (waitMs > 0) this.#report(new ActionError('keep watching', this.#name(), { hint: 'the server ended the watch at once' }), waitMs);
    return waitMs;
  }

  #event({ type, object }: WatchEvent & { object: T }): void {
    const { resourceVersion: rv } = object.metadata;
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        // A server that overlooks the field selector sends everybody's events.
        if (this.#isOurs(object)) this.#tell(type === 'DELETED' ? undefined : object);
        return this.#saw({ kind: 'changed', rv });
      case 'BOOKMARK':
        return this.#saw({ kind: 'bookmark', rv });
      case 'ERROR':
        return; // the client throws it
      default:
        return unreachable(type);
    }
  }

  #failed(error: unknown, lastedMs: number): number {
    if (isExpired(error)) {
      this.#saw({ kind: 'expired' });
      const waitMs = this.#turn({ kind: 'expired' });
      // Once is everyday life; a server that says it again and again is in trouble.
      if (waitMs > 0) this.#report(error, waitMs);
      else this.#log.debug('watch expired, listing again');
      return waitMs;
    }
    this.#saw({ kind: error instanceof TransportError && error.problem === 'too-large' ? 'too-large' : 'failed' });
    const waitMs = this.#turn({ kind: 'failed', lastedMs, retryAfterMs: retryAfterOf(error) });
    this.#report(error, waitMs);
    return waitMs;
  }

  #report(error: unknown, waitMs: number): void {
    this.#log.debug('watch failed', { error: describeError(error), failures: this.#pace.failures, waitMs: Math.round(waitMs) });
    this.#call(() => this.#handlers.onFailure?.(error, this.#pace.failures));
  }

  #tell(object: T | undefined): void {
    const { known, news } = learn(this.#known, object);
    this.#known = known;
    if (news) this.#call(() => this.#handlers.onSeen({ object }));
  }

  #call(handler: () => void): void {
    try {
      handler();
    } catch (cause) {
      throw new HandlerFailure('a watch handler failed', { cause });
    }
  }

  #saw(saw: Saw): void {
    this.#state = next(this.#state, saw);
  }

  #turn(turn: Turn): number {
    const { pace: after, waitMs } = pace(this.#pace, turn, this.#deps.random);
    this.#pace = after;
    return waitMs;
  }

  #query(): { namespace?: string; fieldSelector: string } {
    const { name, namespace } = this.#ref;
    return { ...(namespace === undefined ? {} : { namespace }), fieldSelector: `metadata.name=${escapeFieldValue(name)}` };
  }

  #isOurs({ metadata }: KubeObject): boolean {
    const { name, namespace } = this.#ref;
    return metadata.name === name && (namespace === undefined || metadata.namespace === undefined || metadata.namespace === namespace);
  }

  #name(): string {
    const { name, namespace } = this.#ref;
    return `${this.#resource.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  }
}

/** Carries what a handler threw past the retries: our caller's mistake is not the server's. */
class HandlerFailure extends Error {
  override name = 'HandlerFailure';
}
