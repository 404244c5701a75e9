import { IndexedHeap } from '../../base/ordered.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Key } from '../cache/contract.ts';

/**
 * The states of a key. A key in none of them is unknown and costs nothing.
 *
 * - (unknown) --add--> ready              ready --add--> ready: processing the key once covers all adds before it
 * - ready --get--> processing             in the order in which the keys became ready
 * - processing --add--> readded           readded --add--> readded: what the worker saw may be old, so the key is processed again
 * - processing --done--> (unknown)        readded --done--> ready, at the end of the queue
 */
interface Item {
  readonly key: Key;
  at: 'ready' | 'processing' | 'readded';
  /** Since when the key waits for a worker. */
  addedAt: Millis;
  startedAt: Millis;
  /** The next item in the queue. */
  next: Item | undefined;
}

/** The keys that are ready or being processed: each at most once in the queue, and never with two workers. All methods but `running` are O(1). */
export class ReadyKeys {
  readonly #items = new Map<Key, Item>();
  // A linked list: removing the first item of an array is O(n), and a Set keeps the gaps of deleted items at its head.
  #first: Item | undefined;
  #last: Item | undefined;
  #ready = 0;
  #readded = 0;

  /** Number of keys that `get` can return now. */
  get ready(): number {
    return this.#ready;
  }

  /** Keys that need processing: the ready keys, and the keys added again while being processed. The `dirty` set of client-go's workqueue. */
  get dirty(): number {
    return this.#ready + this.#readded;
  }

  get processing(): number {
    return this.#items.size - this.#ready;
  }

  /** @returns whether the key became dirty; false when it was dirty already */
  add(key: Key, now: Millis): boolean {
    const item = this.#items.get(key);
    if (item === undefined) {
      const made: Item = { key, at: 'ready', addedAt: now, startedAt: 0, next: undefined };
      this.#items.set(key, made);
      this.#append(made);
      return true;
    }
    if (item.at !== 'processing') return false;
    item.at = 'readded';
    item.addedAt = now;
    this.#readded++;
    return true;
  }

  /** The key that became ready first, and how long ago it was added. Marks it as processing. */
  get(now: Millis): { key: Key; waited: Millis } | undefined {
    const item = this.#first;
    if (item === undefined) return undefined;
    this.#first = item.next;
    if (this.#first === undefined) this.#last = undefined;
    item.next = undefined;
    item.at = 'processing';
    item.startedAt = now;
    this.#ready--;
    return { key: item.key, waited: now - item.addedAt };
  }

  /** @returns how long the key was processed; undefined when it is not being processed */
  done(key: Key, now: Millis): Millis | undefined {
    const item = this.#items.get(key);
    if (item === undefined || item.at === 'ready') return undefined;
    if (item.at === 'readded') {
      this.#readded--;
      item.at = 'ready';
      this.#append(item);
    } else this.#items.delete(key);
    return now - item.startedAt;
  }

  /** How long each key has been processing so far. O(n): for metrics scrapes. */
  *running(now: Millis): Generator<Millis> {
    for (const item of this.#items.values()) if (item.at !== 'ready') yield now - item.startedAt;
  }

  #append(item: Item): void {
    if (this.#last === undefined) this.#first = item;
    else this.#last.next = item;
    this.#last = item;
    this.#ready++;
  }
}

/**
 * Delivers each key once, at the earliest requested time. At most one sleep is active, however many keys wait; without waiting keys, or once closed, none is.
 */
export class DelayQueue<K> {
  readonly #clock: Clock;
  readonly #onDue: (key: K) => void;
  readonly #due = new IndexedHeap<K, Millis>((a, b) => a - b);
  /** Aborts the active sleep, so that the loop looks for the earliest time again. */
  #rearm: AbortController | undefined;
  #until: Millis = Infinity;
  #closed = false;

  /** @param onDue - called when a key is due, never early; it must not throw */
  constructor(clock: Clock, onDue: (key: K) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#due.size;
  }

  /**
   * Delivers `key` after `ms`, or earlier where an earlier time is set already, and never before this returns. Ignored once closed.
   * @throws {RangeError} unless `ms` is finite
   */
  set(key: K, ms: Millis): void {
    if (!Number.isFinite(ms)) throw new RangeError(`a delay of ${ms} ms for ${String(key)}`);
    if (this.#closed) return;
    const at = this.#clock.monotonic() + ms;
    const known = this.#due.get(key);
    if (known !== undefined && known <= at) return;
    this.#due.set(key, at);
    if (at < this.#until) this.#wake();
  }

  /** Drops all keys, ignores later ones, and aborts the active sleep. */
  close(): void {
    this.#closed = true;
    this.#due.clear();
    this.#rearm?.abort();
  }

  #wake(): void {
    if (this.#rearm === undefined) void this.#run();
    else this.#rearm.abort();
  }

  async #run(): Promise<void> {
    const { signal } = (this.#rearm = new AbortController());
    // Leave the caller's turn first: a key that is due already would otherwise be delivered inside `set`.
    await Promise.resolve();
    for (let over = signal; ;) {
      this.#deliverDue();
      const next = this.#due.peek();
      if (next === undefined) break;
      this.#until = next.value;
      if (over.aborted) over = (this.#rearm = new AbortController()).signal;
      // An abort means that an earlier time was set; a timer may fire a little early.
      await this.#clock.sleep(next.value - this.#clock.monotonic(), over).catch(() => {});
    }
    this.#rearm = undefined;
    this.#until = Infinity;
  }

  #deliverDue(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#due.peek(); next !== undefined && next.value <= now; next = this.#due.peek()) {
      this.#due.pop();
      this.#onDue(next.key);
    }
  }
}
