import { IndexedHeap } from '../../base/ordered.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Key } from '../cache/contract.ts';

/**
 * One key's way. A key that is in none of these states is not known, and costs nothing.
 *
 * - (unknown) --add--> ready              ready --add--> ready: one visit answers all adds before it
 * - ready --get--> processing             in the order in which the keys became ready
 * - processing --add--> readded           readded --add--> readded: what the worker saw may be old, so the key is processed again
 * - processing --done--> (unknown)        readded --done--> ready, at the end of the line
 */
interface Item {
  readonly key: Key;
  at: 'ready' | 'processing' | 'readded';
  /** Since when it waits to be taken. */
  addedAt: Millis;
  startedAt: Millis;
  /** The one behind it in the line. */
  next: Item | undefined;
}

/** The keys that wait for a worker or are with one: each at most once in the line, and never with two workers. Everything is O(1). */
export class ReadyKeys {
  readonly #items = new Map<Key, Item>();
  // A linked line: taking the first of an array is O(n), and a Set drags the gaps at its head along.
  #first: Item | undefined;
  #last: Item | undefined;
  #ready = 0;
  #readded = 0;

  /** How many could be taken now. */
  get ready(): number {
    return this.#ready;
  }

  /** Keys that need processing: those in the line, and those added again while with a worker. The `dirty` set of client-go's workqueue. */
  get dirty(): number {
    return this.#ready + this.#readded;
  }

  get processing(): number {
    return this.#items.size - this.#ready;
  }

  /** @returns whether that is a new visit, rather than one that is owed anyway */
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

  /** The key that became ready first, and how long ago it was added. It is processing from now on. */
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

  /** @returns how long it was processing; undefined when nobody had taken the key */
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

  /** How long each key that is processing has been so. O(n): for a scrape. */
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
 * Delivers each key once, at the earliest time asked for. However many keys wait, one sleep is under way at a time; with none waiting, or once
 * closed, none.
 */
export class DelayQueue<K> {
  readonly #clock: Clock;
  readonly #onDue: (key: K) => void;
  readonly #due = new IndexedHeap<K, Millis>((a, b) => a - b);
  /** Ends the sleep under way, so that the loop looks for the earliest time again. */
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
   * Delivers `key` in `ms`, or earlier where that was asked for already, and never before this returns. Nothing happens once closed.
   * @throws {RangeError} unless finite
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

  /** @returns whether the key was waiting */
  delete(key: K): boolean {
    // The sleep may be for this key: it then ends on time, finds nothing due, and is followed by the right one. With nothing left it ends now.
    const was = this.#due.delete(key);
    if (was && this.#due.size === 0) this.#rearm?.abort();
    return was;
  }

  /** Forgets all keys, for good, and leaves no sleep behind. */
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
    // Not in the turn of the one who asked: a time that has come would be delivered inside `set`.
    await Promise.resolve();
    for (let over = signal; ;) {
      this.#deliverDue();
      const next = this.#due.peek();
      if (next === undefined) break;
      this.#until = next.value;
      if (over.aborted) over = (this.#rearm = new AbortController()).signal;
      // An abort means that there is something earlier; and a timer may fire a little early.
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
