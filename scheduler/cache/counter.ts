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

export interface CounterView {
  changed(slot: number, delta: number): void;
  /** Everything has to be looked at again. */
  reset(): void;
}
