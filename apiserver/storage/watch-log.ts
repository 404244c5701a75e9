import type { KubeObject } from '../../kube/api/object.ts';

/** One change of one object. Its objects are immutable. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  version: number;
  key: string;
  /** State after the change; for DELETED the last state, with the version of the deletion. */
  object: KubeObject;
  /** State before the change; undefined for ADDED. */
  previous: KubeObject | undefined;
}

/** @param change - absent: changes were discarded by `compact` */
type Woken = (change?: Change) => void;

/** The latest changes of one kind, in order of resourceVersion. Watches read with a cursor, so a slow watch needs no memory: it falls out of the window. */
export class WatchLog {
  readonly #window: number;
  readonly #waiting = new Set<Woken>();
  /** Waiters for changes of one key: thousands of agents watch one object each. */
  readonly #waitingFor = new Map<string, Set<Woken>>();
  #changes: Change[] = [];
  #forgotten = 0;

  /** @param window - minimum number of changes kept; at times up to twice as many are kept */
  constructor(window: number) {
    this.#window = window;
  }

  /** The version of the newest discarded change: a watch from an older version would miss changes. */
  get forgotten(): number {
    return this.#forgotten;
  }

  append(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > this.#window * 2) this.#forget(this.#changes.length - this.#window);
    const waiting = [...this.#waiting, ...(this.#waitingFor.get(change.key) ?? [])];
    this.#waiting.clear();
    this.#waitingFor.delete(change.key);
    for (const woken of waiting) woken(change);
  }

  /** Changes newer than `version`, at most `limit`; undefined: some of them are discarded. */
  after(version: number, limit: number): readonly Change[] | undefined {
    if (version < this.#forgotten) return undefined;
    const start = this.#indexAfter(version);
    return this.#changes.slice(start, start + limit);
  }

  /** Discards all changes up to `version`. */
  compact(version: number): void {
    this.#forget(this.#indexAfter(version));
    this.#forgotten = Math.max(this.#forgotten, version);
    const waiting = [...this.#waiting, ...[...this.#waitingFor.values()].flatMap((some) => [...some])];
    this.#waiting.clear();
    this.#waitingFor.clear();
    for (const woken of waiting) woken();
  }

  /**
   * Calls `woken` once, at the next change, or when `compact` discards changes.
   * @param key - only changes of this object. @default any object
   * @returns a function that removes the waiter
   */
  onNext(woken: Woken, key?: string): () => void {
    if (key === undefined) {
      this.#waiting.add(woken);
      return () => this.#waiting.delete(woken);
    }
    const some = this.#waitingFor.get(key) ?? new Set<Woken>();
    this.#waitingFor.set(key, some.add(woken));
    return () => {
      some.delete(woken);
      if (some.size === 0 && this.#waitingFor.get(key) === some) this.#waitingFor.delete(key);
    };
  }

  #forget(count: number): void {
    const last = this.#changes[count - 1];
    if (last === undefined) return;
    this.#forgotten = last.version;
    this.#changes = this.#changes.slice(count);
  }

  #indexAfter(version: number): number {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.version ?? 0) <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
