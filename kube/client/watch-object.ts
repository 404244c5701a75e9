import type { Clock, Millis } from '../../base/clock.ts';
import { ActionError, describeError, unreachable } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import { nameSelector } from '../api/selector.ts';
import type { Client, ObjectRef, WatchEvent } from './client.ts';
import { isExpired, isUnanswered, TransportError } from './errors.ts';
import { handled, WatchLoop } from './watch-loop.ts';

/**
 * The state of a list-and-watch loop.
 *
 * relisting --listed--> watching                 relisting --anything else--> relisting
 * watching --changed, bookmark--> watching, at the newer version
 * watching --expired (410), too-large--> relisting   watching --closed, failed--> watching, at the same version
 * watching --cut--> relisting                     a server with a restored store would send nothing until its versions catch up
 *
 * The driver lists or watches according to the state, waits after failures, and does not choose edges.
 */
/** `cut`: the watch was cut before; the success of the list does not reset the backoff */
export type Watch = { at: 'relisting'; cut?: true } | { at: 'watching'; rv: string };

export type Saw =
  | { kind: 'listed'; rv: string }
  /** An event, or a bookmark; without a version it changes nothing. */
  | { kind: 'changed' | 'bookmark'; rv: string | undefined }
  | { kind: 'expired' }
  /** The next event is larger than the client accepts: every watch from this version would begin with it again. */
  | { kind: 'too-large' }
  /** The server ended the watch, as it does every few minutes. */
  | { kind: 'closed' }
  /** The server does not answer: it may have been stopped and its store restored. */
  | { kind: 'cut' }
  | { kind: 'failed' };

export function next(state: Watch, saw: Saw): Watch {
  switch (saw.kind) {
    case 'listed':
      return { at: 'watching', rv: saw.rv };
    case 'changed':
    case 'bookmark':
      return state.at === 'watching' && saw.rv !== undefined && saw.rv !== '' ? { at: 'watching', rv: saw.rv } : state;
    case 'expired':
    case 'too-large':
      return { at: 'relisting' };
    case 'cut':
      return { at: 'relisting', cut: true };
    case 'closed':
    case 'failed':
      return state;
    default:
      return unreachable(saw);
  }
}

/** What is known of one object: nothing yet, that it does not exist, or its UID and version. */
export type Known = 'unknown' | 'absent' | { uid: string | undefined; rv: string | undefined };

/** Whether `object` (undefined: it does not exist) differs from `known`, and what is known after it. */
export function compareWithKnown(known: Known, object: KubeObject | undefined): { known: Known; changed: boolean } {
  if (object === undefined) return { known: 'absent', changed: known !== 'absent' };
  const { uid, resourceVersion: rv } = object.metadata;
  // Without a version nothing can be compared: a repeated report is better than none.
  const isSame = typeof known === 'object' && rv !== undefined && known.rv === rv && known.uid === uid;
  return { known: { uid, rv }, changed: !isSame };
}

/** The state that a single-object watch reports. `undefined` object: the server confirmed that it does not exist. */
export interface Seen<T extends KubeObject> {
  object: T | undefined;
}

export interface ObjectWatchHandlers<T extends KubeObject> {
  /** Called for the first list, and for every change after it (also deleted and recreated). Only the list after a cut repeats an unchanged resourceVersion. */
  onSeen(seen: Seen<T>): void;
  /** A failure that the watch survives; it backs off and retries. `failures` is the number of consecutive ones. */
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

export const watchObject: WatchObject = (deps, resource, ref, handlers, signal) =>
  new ObjectWatch(deps, resource, ref, handlers, signal).run();

class ObjectWatch<T extends KubeObject> {
  readonly #deps: WatchDeps;
  readonly #resource: Resource;
  readonly #ref: ObjectRef;
  readonly #handlers: ObjectWatchHandlers<T>;
  readonly #signal: AbortSignal;
  readonly #log: Log;
  readonly #loop: WatchLoop;
  #state: Watch = { at: 'relisting' };
  #known: Known = 'unknown';

  constructor(deps: WatchDeps, resource: Resource, ref: ObjectRef, handlers: ObjectWatchHandlers<T>, signal: AbortSignal) {
    this.#deps = deps;
    this.#resource = resource;
    this.#ref = ref;
    this.#handlers = handlers;
    this.#signal = signal;
    this.#loop = new WatchLoop(deps);
    this.#log = deps.log.with({ kind: resource.kind, ...ref });
  }

  run(): Promise<void> {
    const next = (from: Millis): Promise<Millis> => (this.#state.at === 'relisting' ? this.#list() : this.#watch(this.#state.rv, from));
    return this.#loop.run({ next, failed: (error, lastedMs) => this.#failed(error, lastedMs) }, this.#signal);
  }

  async #list(): Promise<Millis> {
    const { items, metadata } = await this.#deps.client.list<T>(this.#resource, this.#query(), { signal: this.#signal });
    if (this.#signal.aborted) return 0;
    const wasCut = this.#state.at === 'relisting' && this.#state.cut === true;
    // A restored store uses versions again: the known version may have other content by now.
    if (wasCut && typeof this.#known === 'object') this.#known = 'unknown';
    this.#notifyIfChanged(items.find((item) => this.#isWatched(item)));
    this.#saw({ kind: 'listed', rv: metadata.resourceVersion ?? '' });
    return wasCut ? 0 : this.#loop.turn({ kind: 'listed' });
  }

  async #watch(rv: string, from: number): Promise<Millis> {
    const query = { ...this.#query(), ...(rv === '' ? {} : { resourceVersion: rv }), timeoutSeconds: this.#loop.timeoutSeconds() };
    for await (const event of this.#deps.client.watch<T>(this.#resource, query, this.#signal)) {
      if (this.#signal.aborted) return 0;
      this.#loop.turn({ kind: 'event' });
      this.#event(event);
    }
    if (this.#signal.aborted) return 0;
    this.#saw({ kind: 'closed' });
    const waitMs = this.#loop.turn({ kind: 'ended', lastedMs: this.#deps.clock.monotonic() - from });
    if (waitMs > 0) this.#report(new ActionError('keep watching', this.#name(), { hint: 'the server ended the watch at once' }), waitMs);
    return waitMs;
  }

  #event({ type, object }: WatchEvent & { object: T }): void {
    const { resourceVersion: rv } = object.metadata;
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        // A server that ignores the field selector sends the events of all objects.
        if (this.#isWatched(object)) this.#notifyIfChanged(type === 'DELETED' ? undefined : object);
        return this.#saw({ kind: 'changed', rv });
      case 'BOOKMARK':
        return this.#saw({ kind: 'bookmark', rv });
      case 'ERROR':
        return; // the client throws such events
      default:
        return unreachable(type);
    }
  }

  #failed(error: unknown, lastedMs: number): number {
    const isTooLarge = error instanceof TransportError && error.problem === 'too-large';
    this.#saw({ kind: isExpired(error) ? 'expired' : isTooLarge ? 'too-large' : isUnanswered(error) ? 'cut' : 'failed' });
    const { waitMs, isRoutine } = this.#loop.afterFailure(error, lastedMs);
    if (isRoutine) this.#log.debug('watch expired, listing again');
    else this.#report(error, waitMs);
    return waitMs;
  }

  #report(error: unknown, waitMs: number): void {
    this.#log.debug('watch failed', { error: describeError(error), failures: this.#loop.failures, waitMs: Math.round(waitMs) });
    handled(() => this.#handlers.onFailure?.(error, this.#loop.failures));
  }

  #notifyIfChanged(object: T | undefined): void {
    const { known, changed } = compareWithKnown(this.#known, object);
    this.#known = known;
    if (changed) handled(() => this.#handlers.onSeen({ object }));
  }

  #saw(saw: Saw): void {
    this.#state = next(this.#state, saw);
  }

  #query(): { namespace?: string; fieldSelector: string } {
    const { name, namespace } = this.#ref;
    return { ...(namespace === undefined ? {} : { namespace }), fieldSelector: nameSelector(name) };
  }

  #isWatched({ metadata }: KubeObject): boolean {
    const { name, namespace } = this.#ref;
    return metadata.name === name && (namespace === undefined || metadata.namespace === undefined || metadata.namespace === namespace);
  }

  #name(): string {
    const { name, namespace } = this.#ref;
    return `${this.#resource.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  }
}
