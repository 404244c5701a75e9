import { type Clock, type Millis } from '../../../../base/clock.ts';
import { seededRandom, type Random } from '../../../../base/random.ts';

/** One time for all machines. Nothing happens between two events, and all that runs on promises comes to rest after each. */
export class World {
  now: Millis = 0;
  readonly random: Random;
  #events: { at: Millis; order: number; happen: () => void }[] = [];
  #order = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.random();
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.random() * choices.length)] ?? choices[0];
  }

  after(ms: Millis, happen: () => void): void {
    const event = { at: this.now + Math.max(0, ms), order: (this.#order += 1), happen };
    const events = this.#events;
    events.push(event);
    for (let child = events.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!this.#isBefore(child, parent)) break;
      this.#swap(child, parent);
      child = parent;
    }
  }

  async run(until: () => boolean): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (!until()) {
      const event = this.#pop();
      if (event === undefined) throw new Error('nothing will ever happen again');
      this.now = event.at;
      event.happen();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #pop(): { at: Millis; happen: () => void } | undefined {
    const events = this.#events;
    if (events.length === 0) return undefined;
    this.#swap(0, events.length - 1);
    const first = events.pop();
    for (let parent = 0; ;) {
      let least = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) if (child < events.length && this.#isBefore(child, least)) least = child;
      if (least === parent) return first;
      this.#swap(parent, least);
      parent = least;
    }
  }

  #isBefore(left: number, right: number): boolean {
    const [a, b] = [this.#events[left], this.#events[right]];
    return a !== undefined && b !== undefined && (a.at < b.at || (a.at === b.at && a.order < b.order));
  }

  #swap(left: number, right: number): void {
    const [a, b] = [this.#events[left], this.#events[right]];
    if (a === undefined || b === undefined) return;
    this.#events[left] = b;
    this.#events[right] = a;
  }
}

/** A machine with one process on it, and its two clocks, both of which may be wrong. */
export class Machine implements Clock {
  readonly world: World;
  /** Nothing it sends arrives, and nothing arrives here. */
  isCutOff = false;
  #wallSkew: Millis;
  readonly #rate: number;
  #suspendedMs: Millis = 0;
  #halted: { at: Millis; suspended: boolean } | undefined;
  #isDead = false;
  #held: (() => void)[] = [];

  /** @param rate - of the monotonic clock: 1.001 is 1 ms too fast per second */
  constructor(world: World, { skewMs, rate }: { skewMs: Millis; rate: number }) {
    this.world = world;
    this.#wallSkew = skewMs;
    this.#rate = rate;
  }

  now(): Millis {
    return 1_700_000_000_000 + this.world.now + this.#wallSkew;
  }

  monotonic(): Millis {
    return (this.world.now - this.#suspendedMs) * this.#rate;
  }

  sleep(ms: Millis, signal?: AbortSignal): Promise<void> {
    const slept = Promise.withResolvers<void>();
    if (signal?.aborted === true) slept.reject(signal.reason);
    else {
      const stop = (): void => slept.reject(signal?.reason);
      signal?.addEventListener('abort', stop, { once: true });
      // A timer has a resolution: time that rounds to nothing would never pass.
      this.world.after(Math.max(ms / this.#rate, 0.01), () => {
        this.deliver(() => {
          signal?.removeEventListener('abort', stop);
          slept.resolve();
        });
      });
    }
    return slept.promise;
  }

  after(ms: Millis, ring: () => void): () => void {
    const over = new AbortController();
    this.sleep(ms, over.signal).then(ring, () => {});
    return () => over.abort();
  }

  /** Something happens to the process: now, when it goes on, or never. */
  deliver(happen: () => void): void {
    if (this.#isDead) return;
    if (this.#halted === undefined) happen();
    else this.#held.push(happen);
  }

  get isHalted(): boolean {
    return this.#halted !== undefined;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  kill(): void {
    this.#isDead = true;
    this.#held = [];
  }

  /** The process stands still, as by SIGSTOP; suspended: the whole machine does, its monotonic clock too. */
  halt(suspended: boolean): void {
    this.#halted ??= { at: this.world.now, suspended };
  }

  /** What came in the meantime happens now, timers before answers or the other way round. */
  goOn(): void {
    if (this.#halted?.suspended === true) this.#suspendedMs += this.world.now - this.#halted.at;
    this.#halted = undefined;
    const held = this.#held;
    this.#held = [];
    const inOrder = this.world.random() < 0.5 ? held : held.toReversed();
    for (const [at, happen] of inOrder.entries()) this.world.after(at * 0.01, () => this.deliver(happen));
  }

  setWallClock(byMs: Millis): void {
    this.#wallSkew += byMs;
  }
}
