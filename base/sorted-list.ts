/** Items that stay in order while they come and go: each costs a search by halves, however many there are. No two may compare as equal. */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** In order. It changes with the list: copy it to keep it. */
  get items(): readonly T[] {
    return this.#items;
  }

  add(item: T): void {
    this.#items.splice(this.#placeOf(item), 0, item);
  }

  /** Removes the item that compares as equal to this one, where there is one. */
  remove(item: T): void {
    const at = this.#placeOf(item);
    const found = this.#items[at];
    if (found !== undefined && this.#compare(found, item) === 0) this.#items.splice(at, 1);
  }

  /** The first place whose item is not before this one. */
  #placeOf(item: T): number {
    const last = this.#items.at(-1);
    // Who adds items in order has nothing searched.
    if (last === undefined || this.#compare(last, item) < 0) return this.#items.length;
    let [from, to] = [0, this.#items.length - 1];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const found = this.#items[middle];
      if (found !== undefined && this.#compare(found, item) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
