import type { Topologies, Topology } from './topology.ts';

/** Pods of some kind by the slot of their node, and views of them that follow every change. */
export class Counter {
  #bySlot = new Int32Array(64);
  readonly #views = new Set<CounterView>();

  at(slot: number): number {
    return this.#bySlot[slot] ?? 0;
  }

  /** {@link at} of so many slots, or more. Good until pods change. */
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
  /** Everything has to be looked at again. */
  reset(): void;
}

/** Which nodes count at all. Read again whenever `version` differs. */
export interface Eligible {
  readonly version: number;
  has(slot: number): boolean;
}

/** Pods of a counter by the value that their node has of one label: over all nodes, or over those that are eligible. */
export class DomainCounts implements CounterView {
  readonly topology: Topology;
  readonly counter: Counter;
  readonly #topologies: Topologies;
  readonly #eligible: Eligible | undefined;
  readonly #slots: () => number;
  #builtAt = -1;
  #eligibleAt = -1;
  #counts = new Float64Array(0);
  #nodes = new Int32Array(0);
  #isEligible = new Uint8Array(0);
  #total = 0;
  #present = 0;
  #extremes: Extremes | undefined;

  /** @param slots - how many slots there are */
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

  /** The fewest pods of a domain that is present; 0 without any. @param domain - taken to have `count` */
  fewest(domain = -1, count = 0): number {
    const { least, second, first } = (this.#extremes ??= this.#findExtremes());
    const isKnown = domain >= 0 && this.isPresent(domain);
    const fewest = isKnown ? Math.min(count, domain === first ? second : least) : least;
    return fewest === Infinity ? 0 : fewest;
  }

  /** Asked for each node of a look: worked out once between changes. */
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

  /** Brings counts up to date with nodes; changes of pods are in them already. */
  refresh(): void {
    const { version } = this.#topologies;
    const eligibleAt = this.#eligible?.version ?? 0;
    if (version === this.#builtAt && eligibleAt === this.#eligibleAt) return;
    this.#builtAt = version;
    this.#eligibleAt = eligibleAt;
    this.#build();
  }

  changed(slot: number, delta: number): void {
    // What is outdated is rebuilt anyway.
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

  /** Bytes that its columns take, about. */
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

/** The two domains that are present with the fewest pods. */
interface Extremes {
  readonly least: number;
  /** Of any other domain than `first`. */
  readonly second: number;
  /** A domain with `least`. */
  readonly first: number;
}
