import type { Topologies, Topology } from './topology.ts';

/** Number of the matching pods by slot of their node, and views that follow every change. */
export class Counter {
  #bySlot = new Int32Array(64);
  readonly #views = new Set<CounterView>();

  at(slot: number): number {
    return this.#bySlot[slot] ?? 0;
  }

  /** {@link at} of at least this many slots. Good until pods change. */
  column(slots: number): Int32Array {
    this.#grow(slots);
    return this.#bySlot;
  }

  add(slot: number, delta: number): void {
    this.#grow(slot + 1);
    this.#bySlot[slot] = (this.#bySlot[slot] ?? 0) + delta;
    for (const view of this.#views) view.changed(slot, delta);
  }

  clear(): void {
    this.#bySlot.fill(0);
    for (const view of this.#views) view.reset();
  }

  follow(view: CounterView): void {
    this.#views.add(view);
  }

  unfollow(view: CounterView): void {
    this.#views.delete(view);
  }

  #grow(slots: number): void {
    if (slots <= this.#bySlot.length) return;
    const larger = new Int32Array(Math.max(slots, this.#bySlot.length * 2));
    larger.set(this.#bySlot);
    this.#bySlot = larger;
  }
}

interface CounterView {
  changed(slot: number, delta: number): void;
  /** All counts changed: the view must be built again. */
  reset(): void;
}

/** Which nodes count at all. Read again whenever topologies have changed. */
export interface Eligible {
  has(slot: number): boolean;
}

/** Pods of a counter by the value of one label of their node: over all nodes, or over the eligible ones. */
export class DomainCounts implements CounterView {
  readonly topology: Topology;
  readonly counter: Counter;
  readonly #topologies: Topologies;
  readonly #eligible: Eligible | undefined;
  readonly #slots: () => number;
  #builtAt = -1;
  #counts = new Float64Array(0);
  #nodes = new Int32Array(0);
  #isEligible = new Uint8Array(0);
  #total = 0;
  #present = 0;
  #extremes: Extremes | undefined;

  /** @param slots - returns the number of slots */
  constructor(counter: Counter, key: string, topologies: Topologies, slots: () => number, eligible?: Eligible) {
    this.counter = counter;
    this.topology = topologies.take(key);
    this.#topologies = topologies;
    this.#slots = slots;
    this.#eligible = eligible;
    counter.follow(this);
  }

  /** Pods by domain. Call {@link refresh} before. */
  get counts(): Float64Array {
    return this.#counts;
  }

  /** Pods in all domains together. */
  get total(): number {
    return this.#total;
  }

  /** Domains with at least one eligible node. */
  get present(): number {
    return this.#present;
  }

  isPresent(domain: number): boolean {
    return (this.#nodes[domain] ?? 0) > 0;
  }

  isEligible(slot: number): boolean {
    return this.#isEligible[slot] === 1;
  }

  /** The lowest number of pods in a present domain; 0 without any. @param domain - counted as having `count` pods */
  fewest(domain = -1, count = 0): number {
    const { least, second, first } = (this.#extremes ??= this.#findExtremes());
    const isKnown = domain >= 0 && this.isPresent(domain);
    const fewest = isKnown ? Math.min(count, domain === first ? second : least) : least;
    return fewest === Infinity ? 0 : fewest;
  }

  /** Read for each node of a pass, so computed only once between changes. */
  #findExtremes(): Extremes {
    let [least, second, first] = [Infinity, Infinity, -1];
    for (let at = 0; at < this.#nodes.length; at++) {
      if ((this.#nodes[at] ?? 0) === 0) continue;
      const found = this.#counts[at] ?? 0;
      if (found < least) [least, second, first] = [found, least, at];
      else if (found < second) second = found;
    }
    return { least, second, first };
  }

  /** Updates the counts after changes of nodes; changes of pods are included already. */
  refresh(): void {
    const { version } = this.#topologies;
    if (version === this.#builtAt) return;
    this.#builtAt = version;
    this.#build();
  }

  changed(slot: number, delta: number): void {
    // An outdated view is rebuilt anyway.
    if (this.#builtAt !== this.#topologies.version || this.#isEligible[slot] !== 1) return;
    const domain = this.topology.domains[slot] ?? -1;
    if (domain < 0) return;
    this.#counts[domain] = (this.#counts[domain] ?? 0) + delta;
    this.#total += delta;
    this.#extremes = undefined;
  }

  reset(): void {
    this.#builtAt = -1;
  }

  /** Approximate size of its columns in bytes. */
  get bytes(): number {
    return 12 * this.#counts.length + this.#isEligible.length;
  }

  close(): void {
    this.counter.unfollow(this);
    this.#topologies.release(this.topology);
  }

  #build(): void {
    const { domains, count } = this.topology;
    const slots = this.#slots();
    this.#counts = new Float64Array(count);
    this.#nodes = new Int32Array(count);
    this.#isEligible = new Uint8Array(slots);
    this.#total = 0;
    this.#present = 0;
    this.#extremes = undefined;
    for (let slot = 0; slot < slots; slot++) {
      const domain = domains[slot] ?? -1;
      if (domain < 0 || this.#eligible?.has(slot) === false) continue;
      this.#isEligible[slot] = 1;
      if (this.#nodes[domain] === 0) this.#present += 1;
      this.#nodes[domain] = (this.#nodes[domain] ?? 0) + 1;
      const pods = this.counter.at(slot);
      this.#counts[domain] = (this.#counts[domain] ?? 0) + pods;
      this.#total += pods;
    }
  }
}

/** The two present domains with the fewest pods. */
interface Extremes {
  readonly least: number;
  /** The lowest number in the domains other than `first`. */
  readonly second: number;
  /** A domain with `least`. */
  readonly first: number;
}
