import type { KubeObject } from '../../kube/api/object.ts';

/** One change of one kind, in the order of its resourceVersions. Objects are never changed after they are in here. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  version: number;
  key: string;
  /** After the change; for DELETED the last state, under the version of the deletion. */
  object: KubeObject;
  /** Before it; undefined for ADDED. */
  previous: KubeObject | undefined;
}

/** @param change - absent: changes were forgotten on demand */
type Woken = (change?: Change) => void;

/** The latest changes of one kind. Watches read along it with a cursor, so a slow one costs no memory: it falls out of the window. */
export class WatchLog {
  readonly #window: number;
  readonly #waiting = new Set<Woken>();
  /** Those that wait for changes of one key: thousands of agents watch an object each. */
  readonly #waitingFor = new Map<string, Set<Woken>>();
  #changes: Change[] = [];
  #forgotten = 0;

  /** @param window - changes kept at least; up to twice as many are there at times */
  constructor(window: number) {
    this.#window = window;
  }

  /** The version of the newest change that is no longer known: a watch from an older version misses something. */
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

  /** Changes newer than `version`, at most `limit`; undefined when some of them are forgotten. */
  after(version: number, limit: number): readonly Change[] | undefined {
    if (version < this.#forgotten) return undefined;
    const start = this.#indexAfter(version);
    return this.#changes.slice(start, start + limit);
  }

  /** Forgets everything up to `version`. */
  compact(version: number): void {
    this.#forget(this.#indexAfter(version));
    this.#forgotten = Math.max(this.#forgotten, version);
    const waiting = [...this.#waiting, ...[...this.#waitingFor.values()].flatMap((some) => [...some])];
    this.#waiting.clear();
    this.#waitingFor.clear();
    for (const woken of waiting) woken();
  }

  /**
   * Calls `woken` once, at the next change, or when changes are forgotten on demand.
   * @param key - only changes of this object count. @default those of all
   * @returns takes it back
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
