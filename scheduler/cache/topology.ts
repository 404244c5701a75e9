/** Which value of one label each node has, as small numbers. */
export interface Topology {
  readonly key: string;
  /** By slot; -1, or beyond its end: the node has no such label, or there is no node. */
  readonly domains: Int32Array;
  /** Numbers given so far. */
  readonly count: number;
}

class Column implements Topology {
  readonly key: string;
  domains = new Int32Array(64).fill(-1);
  readonly #numbers = new Map<string, number>();
  /** By number. */
  readonly #values: string[] = [];
  readonly #nodes: number[] = [];
  /** Numbers of values that no node has any more, for reuse: there is no end of new node names. */
  readonly #free: number[] = [];

  constructor(key: string) {
    this.key = key;
  }

  get count(): number {
    return this.#values.length;
  }

  set(slot: number, value: string | undefined): void {
    // No slot beyond the end has a value.
    if (value === undefined && slot >= this.domains.length) return;
    if (slot >= this.domains.length) {
      const larger = new Int32Array(Math.max(slot + 1, this.domains.length * 2)).fill(-1);
      larger.set(this.domains);
      this.domains = larger;
    }
    const before = this.domains[slot] ?? -1;
    if (before >= 0 && this.#values[before] === value) return;
    if (before >= 0) this.#leave(before);
    this.domains[slot] = value === undefined ? -1 : this.#enter(value);
  }

  #enter(value: string): number {
    const number = this.#numbers.get(value) ?? this.#free.pop() ?? this.#values.length;
    this.#numbers.set(value, number);
    this.#values[number] = value;
    this.#nodes[number] = (this.#nodes[number] ?? 0) + 1;
    return number;
  }

  #leave(number: number): void {
    const left = (this.#nodes[number] ?? 0) - 1;
    this.#nodes[number] = left;
    if (left > 0) return;
    this.#numbers.delete(this.#values[number] ?? '');
    this.#free.push(number);
  }
}

type Labels = Readonly<Record<string, string>> | undefined;

const none: Readonly<Record<string, string>> = {};

/** Columns of node labels, each kept for as long as a class uses it. */
export class Topologies {
  readonly #columns = new Map<string, { readonly column: Column; users: number }>();
  /** By slot, as they were read last. */
  readonly #labels: Labels[] = [];
  /** How many nodes have a label. */
  readonly #nodesWith = new Map<string, number>();
  /** Incremented by every change of node labels: everything built from the columns is outdated then. */
  version = 1;
  /** Incremented when the first node gets a label, or the last one loses it. */
  keysVersion = 1;

  /** Number of columns. */
  get size(): number {
    return this.#columns.size;
  }

  /** Whether some node has this label. */
  has(key: string): boolean {
    return this.#nodesWith.has(key);
  }

  /** The column of a label, kept until {@link release} has been called as often. */
  take(key: string): Topology {
    const known = this.#columns.get(key);
    if (known !== undefined) {
      known.users += 1;
      return known.column;
    }
    const column = new Column(key);
    if (this.has(key)) for (const [slot, labels] of this.#labels.entries()) column.set(slot, valueOf(labels, key));
    this.#columns.set(key, { column, users: 1 });
    return column;
  }

  /** Ends one {@link take}; the last one of a label drops the column. */
  release({ key }: Topology): void {
    const known = this.#columns.get(key);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users === 0) this.#columns.delete(key);
  }

  /** @param labels - undefined: there is no node in this slot now */
  changed(slot: number, labels: Labels): void {
    const before = this.#labels[slot];
    this.#labels[slot] = labels;
    if (before !== labels) this.#count(before, labels);
    for (const { column } of this.#columns.values()) column.set(slot, valueOf(labels, column.key));
    this.version += 1;
  }

  #count(before: Labels, after: Labels): void {
    for (const key of Object.keys(after ?? none)) {
      const nodes = this.#nodesWith.get(key) ?? 0;
      this.#nodesWith.set(key, nodes + 1);
      if (nodes === 0) this.keysVersion += 1;
    }
    for (const key of Object.keys(before ?? none)) {
      const left = (this.#nodesWith.get(key) ?? 0) - 1;
      if (left > 0) this.#nodesWith.set(key, left);
      else this.#nodesWith.delete(key);
      if (left === 0) this.keysVersion += 1;
    }
  }
}

function valueOf(labels: Labels, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}
