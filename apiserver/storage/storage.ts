import type { KubeObject } from '../../kube/api/object.ts';
import { WatchLog } from './watch-log.ts';
import type { Change } from './watch-log.ts';

/** Objects as they are at one resourceVersion, in the order of their keys. */
export interface Snapshot {
  version: number;
  objects: readonly KubeObject[];
}

interface Shelf {
  objects: Map<string, KubeObject>;
  log: WatchLog;
  /** Keys in order; undefined after a key came or went. */
  order: string[] | undefined;
}

/** Where an object lies among its kind: `namespace/name`, or the name alone. */
export function storageKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/**
 * Everything the server knows, in memory: one resourceVersion counter over all kinds, and per kind its objects and latest changes.
 * Objects that are in here are never changed, only replaced, so that readers need no copy.
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

  /** The same as it was at `version`; undefined when it was not there. @param version - one whose later changes are known */
  getAt(kind: string, key: string, version: number): KubeObject | undefined {
    const shelf = this.#shelf(kind);
    const first = shelf.log.after(version, Number.MAX_SAFE_INTEGER)?.find((change) => change.key === key);
    return first === undefined ? shelf.objects.get(key) : first.previous;
  }

  /** Puts `object` at `key` under the next resourceVersion, which is written into it. @returns the object as stored */
  put(kind: string, key: string, object: KubeObject): KubeObject {
    const shelf = this.#shelf(kind);
    const previous = shelf.objects.get(key);
    const stored = this.#versioned(object);
    shelf.objects.set(key, stored);
    if (previous === undefined) shelf.order = undefined;
    this.#tell(kind, shelf, { type: previous ? 'MODIFIED' : 'ADDED', version: this.#version, key, object: stored, previous });
    return stored;
  }

  /** Takes the object away. @returns its last state under the version of the deletion; undefined when nothing was there */
  remove(kind: string, key: string): KubeObject | undefined {
    const shelf = this.#shelf(kind);
    const previous = shelf.objects.get(key);
    if (previous === undefined) return undefined;
    const last = this.#versioned(previous);
    shelf.objects.delete(key);
    shelf.order = undefined;
    this.#tell(kind, shelf, { type: 'DELETED', version: this.#version, key, object: last, previous });
    return last;
  }

  /** All objects of a kind (of one namespace) as they are now. */
  list(kind: string, namespace?: string): Snapshot {
    const shelf = this.#shelf(kind);
    shelf.order ??= [...shelf.objects.keys()].sort();
    return { version: this.#version, objects: pick(shelf.order, shelf.objects, namespace) };
  }

  /** The same as they were at `version`; undefined when the changes since then are forgotten. */
  listAt(kind: string, version: number, namespace?: string): Snapshot | undefined {
    if (version === this.#version) return this.list(kind, namespace);
    const shelf = this.#shelf(kind);
    const since = shelf.log.after(version, Number.MAX_SAFE_INTEGER);
    if (since === undefined) return undefined;
    const objects = new Map(shelf.objects);
    for (const change of since.toReversed()) {
      if (change.previous === undefined) objects.delete(change.key);
      else objects.set(change.key, change.previous);
    }
    return { version, objects: pick([...objects.keys()].sort(), objects, namespace) };
  }

  /** Forgets all changes so far: every watch and continued list from an older version gets 410. */
  compact(): void {
    for (const shelf of this.#shelves.values()) shelf.log.compact(this.#version);
  }

  /** Calls `listener` with every change of any kind, in the turn in which it is made. It may change nothing itself. */
  onChange(listener: (kind: string, change: Change) => void): void {
    this.#listeners.add(listener);
  }

  #tell(kind: string, shelf: Shelf, change: Change): void {
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
      shelf = { objects: new Map(), log: new WatchLog(this.#window), order: [] };
      this.#shelves.set(kind, shelf);
    }
    return shelf;
  }
}

function pick(order: readonly string[], objects: ReadonlyMap<string, KubeObject>, namespace: string | undefined): KubeObject[] {
  const found: KubeObject[] = [];
  for (const key of order) {
    const object = objects.get(key);
    if (object !== undefined && (namespace === undefined || object.metadata.namespace === namespace)) found.push(object);
  }
  return found;
}
