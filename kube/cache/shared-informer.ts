import { setImmediate as breathe } from 'node:timers/promises';
import { unlessAborted } from '../../base/waiting.ts';
import { describeError } from '../../base/errors.ts';
import { applyEvent, type Change, difference, isSameState } from './change.ts';
import { type Handlers, type Informer, type Key, objectKey, type Registration } from './contract.ts';
import { type Fields, type Prune, pruner, unite } from './fields.ts';
import { deepFreeze, StringPool, StructuralSharing } from './sharing.ts';
import { HandlerList, isLogged } from './handler-list.ts';
import { IndexedStore, type Indexes } from './indexed-store.ts';
import { Reflector, type ReflectorOptions, type Sink } from './reflector.ts';
import type { Millis } from '../../base/clock.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import type { Problem } from './failure-log.ts';

/** What one reader needs from a shared cache. */
export interface Needs<T extends KubeObject> {
  /** Fields to keep of each object. @default 'all', without managedFields */
  fields?: Fields;
  /** Indexes to find objects by. @default none */
  indexes?: Indexes<T>;
}

export interface InformerOptions extends ReflectorOptions {
  /** Shared by all caches of a process. @default a new one */
  strings?: StringPool;
  /** Resync: handlers receive all objects again, as updates without a change, every one to two times this long. @default 0, never */
  resyncMs?: Millis;
  /** Make changing a cached object a TypeError. @default false */
  frozen?: boolean;
  /** Counts what handlers throw. */
  onHandlerFailure?: (handler: string) => void;
  /** Counts objects that an index function threw on. */
  onIndexFailure?: (index: string) => void;
}

/** Objects processed in one turn of the event loop: a list of 150,000 objects must not block the process. */
const SLICE = 500;
/**
 * Changes of a relist that are applied in one turn. More changes, or changes whose handlers take longer than `MAX_TURN` together, are applied in several
 * turns, and the cache is not settled in between.
 */
const MAX_AT_ONCE = 5_000;
const MAX_TURN: Millis = 25;
/** Changes between two readings of the clock. */
const CHECK_TIME_EVERY = 100;

/** See {@link Informer}. */
export class SharedInformer<T extends KubeObject> implements Informer<T> {
  readonly resource: Resource;
  readonly #options: InformerOptions;
  readonly #store: IndexedStore<T>;
  readonly #handlers: HandlerList<T>;
  readonly #reflector: Reflector<T>;
  readonly #wanted: Fields[] = [];
  readonly #firstList = Promise.withResolvers<void>();
  readonly #sharing = new StructuralSharing();
  #prune: Prune | undefined;
  #synced = false;
  /** Present while a relist is being applied; resolves at its end. */
  #relist: PromiseWithResolvers<void> | undefined;
  #version = '';

  constructor(options: InformerOptions) {
    const { resource } = options;
    this.resource = resource;
    this.#options = options;
    const log = options.log.with({ kind: resource.kind });
    this.#handlers = new HandlerList(log, (name) => options.onHandlerFailure?.(name));
    let indexFailures = 0;
    this.#store = new IndexedStore((index, error, key) => {
      options.onIndexFailure?.(index);
      indexFailures += 1;
      if (isLogged(indexFailures))
        log.error('an index function failed; the index does not find this object', { index, object: key, error: describeError(error) });
    });
    const sink: Sink<T> = {
      keep: (item) => this.#kept(item),
      held: (key) => this.#store.get(key),
      replace: (items, version, signal) => this.#replace(items, version, signal),
      apply: (type, object, upTo) => this.#apply(type, object, upTo),
      reached: (version) => (this.#version = version),
    };
    this.#reflector = new Reflector(options, sink);
  }

  /**
   * Adds the needs of one more reader. A cache without declared needs keeps whole objects.
   * @throws {RangeError} once the cache runs, and for an index name that already has another function
   */
  need({ fields = 'all', indexes = {} }: Needs<T>): void {
    if (this.#prune !== undefined)
      throw new RangeError(`the cache of ${this.resource.resource} is already running; declare what is needed of it before it starts`);
    this.#wanted.push(fields);
    for (const [name, by] of Object.entries(indexes)) this.#store.index(name, by);
  }

  get synced(): boolean {
    return this.#synced;
  }

  get settled(): boolean {
    return this.#synced && this.#relist === undefined;
  }

  get current(): boolean {
    return this.settled && this.#reflector.watches;
  }

  get version(): string {
    return this.#version;
  }

  /** Why the cache cannot list or watch at this moment; undefined without a failure. A synced cache with a problem becomes stale. */
  get problem(): Problem | undefined {
    return this.#reflector.problem;
  }

  get size(): number {
    return this.#store.size;
  }

  get(key: Key): Readonly<T> | undefined {
    return this.#store.get(key);
  }

  list(namespace?: string): Readonly<T>[] {
    return this.#store.list(namespace);
  }

  indexed(name: string, value: string): Readonly<T>[] {
    return this.#store.indexed(name, value);
  }

  addHandlers(name: string, handlers: Handlers<T>): Registration {
    // A handler added in the middle of the first list gets the objects stored so far; the rest of the list follows.
    return this.#handlers.add(name, handlers, this.#store.list(), this.#synced);
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return unlessAborted(this.#firstList.promise, signal);
  }

  async whenSettled(signal: AbortSignal): Promise<void> {
    await this.whenSynced(signal);
    while (this.#relist !== undefined) await unlessAborted(this.#relist.promise, signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#prune !== undefined) throw new RangeError(`the cache of ${this.resource.resource} is already running`);
    const fields = this.#wanted.length === 0 ? 'all' : unite(this.#wanted);
    this.#prune = pruner(this.resource, fields, this.#options.strings ?? new StringPool());
    // Reflector and resync end together: an error of the sink must not leave the resync running.
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const resyncing = this.#resync(either);
    try {
      await this.#reflector.run(either);
    } finally {
      over.abort();
      await resyncing;
    }
  }

  #kept(item: T): T {
    const held = this.#store.get(objectKey(item));
    // A second copy of unchanged objects would double the memory during every list.
    if (held !== undefined && isSameState(held, item)) return held;
    return this.#trimmed(item, held);
  }

  async #replace(items: readonly T[], version: string, signal: AbortSignal): Promise<void> {
    const steps = difference(items, this.#store);
    if (this.#synced) {
      const changes: Change<T>[] = [];
      await inSlices(steps, SLICE, (change) => changes.push(change), signal);
      await this.#relisted(changes, version, signal);
      return;
    }
    await inSlices(steps, SLICE, (change) => this.#commit(change), signal);
    if (signal.aborted) return;
    this.#version = version;
    this.#synced = true;
    this.#handlers.markSynced();
    this.#firstList.resolve();
  }

  /** Between these changes the cache shows states that never existed (pods gone without successors, or both present): not settled until the end. */
  async #relisted(changes: readonly Change<T>[], version: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { clock } = this.#options;
    this.#relist = Promise.withResolvers();
    try {
      let turnEnds = clock.monotonic() + MAX_TURN;
      for (const [at, change] of changes.entries()) {
        const isLong = at % MAX_AT_ONCE === 0 || (at % CHECK_TIME_EVERY === 0 && clock.monotonic() >= turnEnds);
        if (at > 0 && isLong) {
          await breathe();
          if (signal.aborted) return;
          turnEnds = clock.monotonic() + MAX_TURN;
        }
        this.#commit(change);
      }
      this.#version = version;
    } finally {
      this.#relist.resolve();
      this.#relist = undefined;
    }
  }

  #apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T, upTo: string): 'applied' | 'lost' {
    const held = this.#store.get(objectKey(object));
    const changes = applyEvent(held, type, this.#trimmed(object, held), upTo);
    if (changes === 'lost') return 'lost';
    for (const change of changes) this.#commit(change);
    return 'applied';
  }

  #commit(change: Change<T>): void {
    switch (change.do) {
      case 'add':
        this.#store.put(change.object);
        break;
      case 'update':
        this.#store.put(change.after);
        break;
      case 'delete':
        this.#store.delete(objectKey(change.last));
        break;
    }
    this.#handlers.distribute(change, !this.#synced);
  }

  #trimmed(object: T, held: T | undefined): T {
    const kept = this.#prune === undefined ? object : this.#sharing.share(this.#prune(object), held);
    return this.#options.frozen === true ? deepFreeze(kept) : kept;
  }

  async #resync(signal: AbortSignal): Promise<void> {
    const { resyncMs = 0, clock, random } = this.#options;
    if (resyncMs === 0) return;
    for (;;) {
      await clock.sleep(resyncMs * (1 + random()), signal).catch(() => {});
      if (signal.aborted) return;
      // Changes during the resync reach the handlers as usual.
      const keys = this.#synced ? [...this.#store.keys()] : [];
      const again = (key: Key) => {
        const object = this.#store.get(key);
        if (object !== undefined) this.#handlers.distribute({ do: 'update', before: object, after: object }, false);
      };
      await inSlices(keys, SLICE, again, signal);
    }
  }
}

/** Yields to the event loop between slices. @param steps - undefined for a step that needs no action */
async function inSlices<S>(steps: Iterable<S | undefined>, slice: number, act: (step: S) => void, signal: AbortSignal): Promise<void> {
  let turn = 0;
  for (const step of steps) {
    if (turn > 0 && turn % slice === 0) await breathe();
    if (signal.aborted) return;
    turn += 1;
    if (step !== undefined) act(step);
  }
}
