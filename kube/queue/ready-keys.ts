import type { Millis } from '../../base/clock.ts';
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
