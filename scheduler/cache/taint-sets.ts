/** Numbers for the sets of taints that nodes have. A number is never given to another set: who has remembered something of it is right, or is never asked again. */
export class TaintSets {
  readonly #byKey = new Map<string, { readonly number: number; nodes: number }>();
  readonly #keys = new Map<number, string>();
  #last = 0;

  get size(): number {
    return this.#byKey.size;
  }

  /**
   * A node leaves one set for another.
   * @param before - 0: it was in none
   * @param key - as of `taintsKey`; undefined: the node is gone
   * @returns the number of the new one; 0 for none
   */
  move(before: number, key: string | undefined): number {
    const known = key === undefined ? undefined : (this.#byKey.get(key) ?? this.#new(key));
    if (known !== undefined) known.nodes += 1;
    this.#leave(before);
    return known?.number ?? 0;
  }

  #new(key: string): { readonly number: number; nodes: number } {
    this.#last += 1;
    const made = { number: this.#last, nodes: 0 };
    this.#byKey.set(key, made);
    this.#keys.set(made.number, key);
    return made;
  }

  #leave(number: number): void {
    const key = this.#keys.get(number);
    const known = key === undefined ? undefined : this.#byKey.get(key);
    if (key === undefined || known === undefined) return;
    known.nodes -= 1;
    if (known.nodes > 0) return;
    this.#byKey.delete(key);
    this.#keys.delete(number);
  }
}
