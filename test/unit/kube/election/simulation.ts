import { type Clock, type Millis } from '../../../../base/clock.ts';
import { IndexedHeap } from '../../../../base/ordered.ts';
import { seededRandom, type Random } from '../../../../base/random.ts';

/** One time for all machines. Nothing happens between two events, and all that runs on promises comes to rest after each. */
export class World {
  now: Millis = 0;
  readonly random: Random;
  readonly #events = new IndexedHeap<number, { at: Millis; happen: () => void }>((a, b) => a.at - b.at);
  #order = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.random();
  }

  after(ms: Millis, happen: () => void): void {
    this.#events.set((this.#order += 1), { at: this.now + Math.max(0, ms), happen });
  }

  async run(until: () => boolean): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (until()) return;
      const event = this.#events.pop()?.value;
      if (event === undefined) throw new Error('nothing will ever happen again');
      this.now = event.at;
      event.happen();
    }
  }
}

/** A machine with one process on it, and its two clocks, both of which may be wrong. */
export class Machine implements Clock {
  readonly world: World;
  /** Nothing it sends arrives, and nothing arrives here. */
  isCutOff = false;
  isDead = false;
  wallSkewMs: Millis;
  readonly #rate: number;
  #suspendedMs: Millis = 0;
  #halted: { at: Millis; suspended: boolean } | undefined;
  #held: (() => void)[] = [];

  /** @param rate - of the monotonic clock: 1.001 is 1 ms too fast per second */
  constructor(world: World, { skewMs, rate }: { skewMs: Millis; rate: number }) {
    this.world = world;
    this.wallSkewMs = skewMs;
    this.#rate = rate;
  }

  now(): Millis {
    return 1_700_000_000_000 + this.world.now + this.wallSkewMs;
  }

  monotonic(): Millis {
    return (this.world.now - this.#suspendedMs) * this.#rate;
  }

  sleep(ms: Millis, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      // A timer has a resolution: time that rounds to nothing would never pass.
      return this.world.after(Math.max(ms / this.#rate, 0.01), () => this.deliver(resolve));
    });
  }

  after(ms: Millis, ring: () => void): () => void {
    const over = new AbortController();
    this.sleep(ms, over.signal).then(ring, () => {});
    return () => over.abort();
  }

  /** Something happens to the process: now, when it goes on, or never. */
  deliver(happen: () => void): void {
    if (this.isDead) return;
    if (this.#halted === undefined) happen();
    else this.#held.push(happen);
  }

  get isHalted(): boolean {
    return this.#halted !== undefined;
  }

  /** The process stands still, as by SIGSTOP; suspended: the whole machine does, its monotonic clock too. */
  halt(ms: Millis, suspended: boolean): void {
    this.#halted ??= { at: this.world.now, suspended };
    this.world.after(ms, () => this.#goOn());
  }

  /** What came in the meantime happens now, timers before answers or the other way round. */
  #goOn(): void {
    if (this.#halted?.suspended === true) this.#suspendedMs += this.world.now - this.#halted.at;
    this.#halted = undefined;
    const held = this.#held.splice(0);
    const inOrder = this.world.random() < 0.5 ? held : held.toReversed();
    for (const [at, happen] of inOrder.entries()) this.world.after(at * 0.01, () => this.deliver(happen));
  }
}
