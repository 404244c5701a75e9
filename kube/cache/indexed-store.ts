import { objectKey, parseKey } from './contract.ts';
import type { KubeObject } from '../api/object.ts';
import type { IndexBy, Key, Lister } from './contract.ts';

export type Indexes<T extends KubeObject> = Readonly<Record<string, IndexBy<T>>>;

/** An index function threw on this object: a bug of the function, or an unexpected object. */
export type IndexFailed = (index: string, error: unknown, key: Key) => void;

interface Index<T extends KubeObject> {
  by: IndexBy<T>;
  keys: Map<string, Set<Key>>;
}

/**
 * Objects by key, by namespace and by the values of declared indexes. The cost of a lookup grows with its results, not with the size of the store.
 */
export class IndexedStore<T extends KubeObject> implements Lister<T> {
  readonly #objects = new Map<Key, T>();
  readonly #indexes = new Map<string, Index<T>>();
  /** Built by the first list of a namespace: most caches never need it, and it is expensive for 150,000 objects. */
  #namespaces: Map<string, Set<Key>> | undefined;
  readonly #failed: IndexFailed;

  /** @param failed - called for an object that an index function throws on; all other lookups find the object. @default not called */
  constructor(failed: IndexFailed = () => {}) {
    this.#failed = failed;
  }

  /** Declares an index and indexes the objects already stored. @throws {RangeError} when the name has another function */
  index(name: string, by: IndexBy<T>): void {
    const there = this.#indexes.get(name);
    if (there?.by === by) return;
    if (there !== undefined) throw new RangeError(`there is already an index ${name} with another function`);
    const index: Index<T> = { by, keys: new Map() };
    for (const [key, object] of this.#objects) for (const value of this.#valuesOf(name, index, object)) insert(index.keys, value, key);
    this.#indexes.set(name, index);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: Key): T | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<Key> {
    return this.#objects.keys();
  }

  list(namespace?: string): T[] {
    if (namespace === undefined) return [...this.#objects.values()];
    this.#namespaces ??= byNamespace(this.#objects.keys());
    return this.#of(this.#namespaces.get(namespace));
  }

  indexed(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new RangeError(`there is no index ${name}; there are ${[...this.#indexes.keys()].join(', ') || 'none'}`);
    return this.#of(index.keys.get(value));
  }

  /** Stores `object` in place of any object with the same key. */
  put(object: T): void {
    const key = objectKey(object);
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    if (before === undefined && this.#namespaces !== undefined) insertNamespace(this.#namespaces, key);
    for (const [name, index] of this.#indexes) {
      const old = before === undefined ? [] : this.#valuesOf(name, index, before, true);
      const now = this.#valuesOf(name, index, object);
      for (const value of old) if (!now.includes(value)) remove(index.keys, value, key);
      for (const value of now) if (!old.includes(value)) insert(index.keys, value, key);
    }
  }

  delete(key: Key): void {
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#objects.delete(key);
    const { namespace } = parseKey(key);
    if (this.#namespaces !== undefined && namespace !== undefined) remove(this.#namespaces, namespace, key);
    for (const [name, index] of this.#indexes)
      for (const value of this.#valuesOf(name, index, before, true)) remove(index.keys, value, key);
  }

  #of(keys: ReadonlySet<Key> | undefined): T[] {
    const found: T[] = [];
    for (const key of keys ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /** @param known - a failure was reported when the object was stored */
  #valuesOf(name: string, { by }: Index<T>, object: T, known = false): readonly string[] {
    try {
      return by(object);
    } catch (error) {
      if (!known) this.#failed(name, error, objectKey(object));
      return [];
    }
  }
}

function byNamespace(keys: Iterable<Key>): Map<string, Set<Key>> {
  const namespaces = new Map<string, Set<Key>>();
  for (const key of keys) insertNamespace(namespaces, key);
  return namespaces;
}

function insertNamespace(namespaces: Map<string, Set<Key>>, key: Key): void {
  const { namespace } = parseKey(key);
  if (namespace !== undefined) insert(namespaces, namespace, key);
}

function insert(keys: Map<string, Set<Key>>, value: string, key: Key): void {
  const there = keys.get(value);
  if (there === undefined) keys.set(value, new Set([key]));
  else there.add(key);
}

function remove(keys: Map<string, Set<Key>>, value: string, key: Key): void {
  const there = keys.get(value);
  there?.delete(key);
  if (there?.size === 0) keys.delete(value);
}
