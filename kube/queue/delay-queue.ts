import type { Clock, Millis } from '../../base/clock.ts';
import { IndexedHeap } from '../../base/ordered.ts';

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
