import type { KubeObject } from '../../kube/api/object.ts';
import { WatchLog } from './watch-log.ts';
import type { Change } from './watch-log.ts';

/** All objects at one resourceVersion, in the order of their keys. */
export interface Snapshot {
  version: number;
  objects: readonly KubeObject[];
}

/** The objects of a kind at one version, readable in the order of their keys, from any key on. */
export interface View {
  version: number;
  keys: readonly string[];
  objects: ReadonlyMap<string, KubeObject>;
  /** The keys from the first (inclusive) to the last (exclusive). */
  from: number;
  to: number;
}

interface Shelf {
  objects: Map<string, KubeObject>;
  log: WatchLog;
  /** Keys in order; undefined after many keys were added or removed. */
  order: string[] | undefined;
  /** Number of keys inserted since the order was last read. */
  placed: number;
  /** The last requested older state, cached for the next page of a list. */
  past: Omit<View, 'from' | 'to'> | undefined;
}

// Inserting a key moves all following keys: for many inserts without a read in between, one sort is cheaper.
const MAX_PLACED = 64;

/** The key of an object within its kind: `namespace/name`, or the name alone. */
export function storageKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/**
 * All state of the server, in memory: one resourceVersion counter over all kinds, and per kind its objects and latest changes.
 * Stored objects are immutable and only replaced, so that readers need no copy.
 */
export class Storage {
  readonly #shelves = new Map<string, Shelf>();
  readonly #window: number;
  readonly #listeners = new Set<(kind: string, change: Change) => void>();
  #version = 0;

  /** @param window - changes remembered per kind, for watches and continued lists */
  constructor(window: number) {
    this.#window = window;
  }

  get version(): number {
    return this.#version;
  }

  log(kind: string): WatchLog {
    return this.#shelf(kind).log;
  }

  get(kind: string, key: string): KubeObject | undefined {
    return this.#shelf(kind).objects.get(key);
  }

  /** An object as it was at `version`; undefined: it did not exist. @param version - a version whose later changes are remembered */
  getAt(kind: string, key: string, version: number): KubeObject | undefined {
    const shelf = this.#shelf(kind);
    const first = shelf.log.after(version, Number.MAX_SAFE_INTEGER)?.find((change) => change.key === key);
    return first === undefined ? shelf.objects.get(key) : first.previous;
  }

  /** Stores `object` at `key` with the next resourceVersion. @returns the stored object */
  put(kind: string, key: string, object: KubeObject): KubeObject {
    const shelf = this.#shelf(kind);
    const previous = shelf.objects.get(key);
    const stored = this.#versioned(object);
    shelf.objects.set(key, stored);
    if (previous === undefined) place(shelf, key, 'in');
    this.#notifyWatchers(kind, shelf, { type: previous ? 'MODIFIED' : 'ADDED', version: this.#version, key, object: stored, previous });
    return stored;
  }

  /** Removes the object. @returns its last state with the version of the deletion; undefined: it did not exist */
  remove(kind: string, key: string): KubeObject | undefined {
    const shelf = this.#shelf(kind);
    const previous = shelf.objects.get(key);
    if (previous === undefined) return undefined;
    const last = this.#versioned(previous);
    shelf.objects.delete(key);
    place(shelf, key, 'out');
    this.#notifyWatchers(kind, shelf, { type: 'DELETED', version: this.#version, key, object: last, previous });
    return last;
  }

  /** All current objects of a kind, or of one namespace. */
  list(kind: string, namespace?: string): Snapshot {
    return snapshotOf(this.view(kind, namespace));
  }

  /** The objects as they were at `version`; undefined: the changes since then are no longer remembered. */
  listAt(kind: string, version: number, namespace?: string): Snapshot | undefined {
    const view = this.viewAt(kind, version, namespace);
    return view && snapshotOf(view);
  }

  /** Like {@link list}, for reading only a part. Valid until the next change. */
  view(kind: string, namespace?: string): View {
    const shelf = this.#shelf(kind);
    shelf.order ??= [...shelf.objects.keys()].sort();
    shelf.placed = 0;
    return within({ version: this.#version, keys: shelf.order, objects: shelf.objects }, namespace);
  }

  /** Like {@link listAt}, for reading only a part. */
  viewAt(kind: string, version: number, namespace?: string): View | undefined {
    const shelf = this.#shelf(kind);
    const since = shelf.log.after(version, Number.MAX_SAFE_INTEGER);
    if (since === undefined || version > this.#version) return undefined;
    if (since.length === 0) return { ...this.view(kind, namespace), version };
    if (shelf.past?.version !== version) {
      const objects = new Map(shelf.objects);
      for (const change of since.toReversed()) {
        if (change.previous === undefined) objects.delete(change.key);
        else objects.set(change.key, change.previous);
      }
      shelf.past = { version, keys: [...objects.keys()].sort(), objects };
    }
    return within(shelf.past, namespace);
  }

  /** Discards all changes so far: every watch and continued list from an older version gets 410. */
  compact(): void {
    for (const shelf of this.#shelves.values()) {
      shelf.log.compact(this.#version);
      shelf.past = undefined;
    }
  }

  /** Calls `listener` with every change of any kind, synchronously. The listener must not write. */
  onChange(listener: (kind: string, change: Change) => void): void {
    this.#listeners.add(listener);
  }

  #notifyWatchers(kind: string, shelf: Shelf, change: Change): void {
    shelf.log.append(change);
    for (const listener of this.#listeners) listener(kind, change);
  }

  #versioned(object: KubeObject): KubeObject {
    this.#version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }

  #shelf(kind: string): Shelf {
    let shelf = this.#shelves.get(kind);
    if (shelf === undefined) {
      shelf = { objects: new Map(), log: new WatchLog(this.#window), order: [], placed: 0, past: undefined };
      this.#shelves.set(kind, shelf);
    }
    return shelf;
  }
}

function place(shelf: Shelf, key: string, direction: 'in' | 'out'): void {
  if (shelf.order === undefined) return;
  shelf.placed += 1;
  if (shelf.placed > MAX_PLACED) shelf.order = undefined;
  else shelf.order.splice(indexOf(shelf.order, key), direction === 'in' ? 0 : 1, ...(direction === 'in' ? [key] : []));
}

/** Index of a key among sorted keys, or its insertion point. */
export function indexOf(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function within(all: Omit<View, 'from' | 'to'>, namespace: string | undefined): View {
  if (namespace === undefined) return { ...all, from: 0, to: all.keys.length };
  // '0' is the character after '/'.
  return { ...all, from: indexOf(all.keys, `${namespace}/`), to: indexOf(all.keys, `${namespace}0`) };
}

function snapshotOf({ version, keys, objects, from, to }: View): Snapshot {
  const found: KubeObject[] = [];
  for (let at = from; at < to; at++) {
    const object = objects.get(keys[at] ?? '');
    if (object !== undefined) found.push(object);
  }
  return { version, objects: found };
}
