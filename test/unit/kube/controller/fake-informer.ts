import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import { objectKey, type Handlers, type Informer, type Key, type Registration } from '../../../../kube/cache/contract.ts';

/** A cache that a test fills by hand: it tells of each change at once, and has synced when the test says so. */
export class FakeInformer<T extends KubeObject> implements Informer<T> {
  readonly resource: Resource;
  synced = false;
  readonly version = '';
  readonly #objects = new Map<Key, T>();
  readonly #handlers = new Set<Handlers<T>>();
  readonly #firstList = Promise.withResolvers<void>();

  constructor(resource: Resource) {
    this.resource = resource;
  }

  /** How many hear of changes. */
  get listeners(): number {
    return this.#handlers.size;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: Key): T | undefined {
    return this.#objects.get(key);
  }

  list(namespace?: string): T[] {
    return [...this.#objects.values()].filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  }

  indexed(): T[] {
    throw new RangeError('a fake informer has no indexes');
  }

  /** Adds the object, or replaces it; equal versions are a resync. */
  put(object: T): void {
    const key = objectKey(object);
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const handlers of this.#handlers) {
      if (before === undefined) handlers.added?.(object, !this.synced);
      else handlers.updated?.(before, object);
    }
  }

  remove(key: Key): void {
    const last = this.#objects.get(key);
    this.#objects.delete(key);
    if (last !== undefined) for (const handlers of this.#handlers) handlers.deleted?.(last, false);
  }

  get settled(): boolean {
    return this.synced;
  }

  whenSettled(signal: AbortSignal): Promise<void> {
    return this.whenSynced(signal);
  }

  finishList(): void {
    this.synced = true;
    this.#firstList.resolve();
  }

  addHandlers(_name: string, handlers: Handlers<T>): Registration {
    this.#handlers.add(handlers);
    for (const object of this.#objects.values()) handlers.added?.(object, true);
    return { synced: this.synced, remove: () => void this.#handlers.delete(handlers) };
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => aborted.reject(signal.reason as Error), { once: true });
    await Promise.race([this.#firstList.promise, aborted.promise]);
  }

  run(): Promise<void> {
    return Promise.reject(new TypeError('a controller does not run its caches'));
  }
}
