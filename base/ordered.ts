/** An entry of a heap. `value` is the heap's own reference: replace it through `set`, never change what the order depends on. */
export interface HeapEntry<K, V> {
  readonly key: K;
  readonly value: V;
}

interface Node<K, V> {
  key: K;
  value: V;
  /** When its key was added: among equal values the oldest is first. */
  order: number;
  index: number;
}

/**
 * A binary heap with access by key: the first entry in O(1); `set`, `delete` and `pop` in O(log n). Entries that compare as equal come out in the order in
 * which their keys were added. Removed entries are not retained.
 */
export class IndexedHeap<K, V> {
  readonly #compare: (a: V, b: V) => number;
  readonly #byKey = new Map<K, Node<K, V>>();
  readonly #nodes: Node<K, V>[] = [];
  #order = 0;

  /** @param compare - negative when `a` comes out before `b`; a total order, so never NaN */
  constructor(compare: (a: V, b: V) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#nodes.length;
  }

  has(key: K): boolean {
    return this.#byKey.has(key);
  }

  get(key: K): V | undefined {
    return this.#byKey.get(key)?.value;
  }

  /** Adds the key, or replaces its value; a known key keeps its age. */
  set(key: K, value: V): void {
    const known = this.#byKey.get(key);
    if (known) {
      known.value = value;
      this.#settle(known);
      return;
    }
    const node: Node<K, V> = { key, value, order: this.#order++, index: this.#nodes.length };
    this.#byKey.set(key, node);
    this.#nodes.push(node);
    this.#rise(node);
  }

  /** @returns whether the key was there */
  delete(key: K): boolean {
    const node = this.#byKey.get(key);
    if (node === undefined) return false;
    this.#remove(node);
    return true;
  }

  /** The entry that comes out next; it stays. */
  peek(): HeapEntry<K, V> | undefined {
    return this.#nodes[0];
  }

  pop(): HeapEntry<K, V> | undefined {
    const first = this.#nodes[0];
    if (first !== undefined) this.#remove(first);
    return first;
  }

  clear(): void {
    this.#byKey.clear();
    this.#nodes.length = 0;
  }

  /** All entries, in no particular order. The heap must not change during the iteration. */
  entries(): IterableIterator<HeapEntry<K, V>> {
    return this.#nodes.values();
  }

  #remove(node: Node<K, V>): void {
    this.#byKey.delete(node.key);
    const last = this.#nodes.pop();
    if (last === undefined || last === node) return;
    this.#put(last, node.index);
    this.#settle(last);
  }

  /** Moves the node up or down to its place. */
  #settle(node: Node<K, V>): void {
    this.#rise(node);
    this.#sink(node);
  }

  #rise(node: Node<K, V>): void {
    while (node.index > 0) {
      const parent = this.#nodes[(node.index - 1) >> 1];
      if (parent === undefined || !this.#before(node, parent)) return;
      this.#swap(node, parent);
    }
  }

  #sink(node: Node<K, V>): void {
    for (;;) {
      const left = this.#nodes[2 * node.index + 1];
      const right = this.#nodes[2 * node.index + 2];
      const child = left !== undefined && right !== undefined && this.#before(right, left) ? right : left;
      if (child === undefined || !this.#before(child, node)) return;
      this.#swap(node, child);
    }
  }

  #swap(a: Node<K, V>, b: Node<K, V>): void {
    const { index } = a;
    this.#put(a, b.index);
    this.#put(b, index);
  }

  #put(node: Node<K, V>, index: number): void {
    node.index = index;
    this.#nodes[index] = node;
  }

  #before(a: Node<K, V>, b: Node<K, V>): boolean {
    const order = this.#compare(a.value, b.value);
    return order === 0 ? a.order < b.order : order < 0;
  }
}

/** A list that stays sorted: adding and removing an item costs a binary search. No two items may compare as equal. */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** In order. It changes with the list: copy it to keep its state. */
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

  /** The first place whose item is not before `item`. */
  #placeOf(item: T): number {
    const last = this.#items.at(-1);
    // Adding items in order needs no search.
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
