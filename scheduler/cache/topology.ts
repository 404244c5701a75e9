/** Which value of one label each node has, as small numbers. */
export interface Topology {
  readonly key: string;
  /** By slot; -1: the node has no such label, or there is no node. */
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
  /** Numbers of values that no node has any more, to be given again: names of nodes come and go for ever. */
  readonly #free: number[] = [];

  constructor(key: string) {
    this.key = key;
  }

  get count(): number {
    return this.#values.length;
  }

  set(slot: number, value: string | undefined): void {
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

/** Columns of the labels that somebody asks for. */
export class Topologies {
  readonly #columns = new Map<string, Column>();
  readonly #labelsAt: (each: (slot: number, labels: Labels) => void) => void;
  /** Counts changes of any column: what is built from them is out of date then. */
  version = 1;

  /** @param everyNode - calls back with every node there is */
  constructor(everyNode: (each: (slot: number, labels: Labels) => void) => void) {
    this.#labelsAt = everyNode;
  }

  of(key: string): Topology {
    const known = this.#columns.get(key);
    if (known !== undefined) return known;
    const column = new Column(key);
    this.#labelsAt((slot, labels) => column.set(slot, valueOf(labels, key)));
    this.#columns.set(key, column);
    return column;
  }

  /** @param labels - undefined: there is no node in this slot now */
  changed(slot: number, labels: Labels): void {
    for (const column of this.#columns.values()) column.set(slot, valueOf(labels, column.key));
    this.version += 1;
  }
}

function valueOf(labels: Labels, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}
