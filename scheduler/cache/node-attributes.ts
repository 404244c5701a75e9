import type { Node } from '../types.ts';

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

/** How many nodes have each image. */
export class Images {
  readonly #nodes = new Map<string, number>();

  /** @returns nodes that have an image under this name */
  having(name: string): number {
    return this.#nodes.get(name) ?? 0;
  }

  changed(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): void {
    for (const name of before.keys()) {
      const left = this.having(name) - 1;
      if (left > 0) this.#nodes.set(name, left);
      else this.#nodes.delete(name);
    }
    for (const name of after.keys()) this.#nodes.set(name, this.having(name) + 1);
  }
}

export function imagesOf(node: Readonly<Node>): Map<string, number> {
  const images = new Map<string, number>();
  for (const { names, sizeBytes } of node.status?.images ?? [])
    for (const name of names ?? []) images.set(name, Math.max(images.get(name) ?? 0, sizeBytes ?? 0));
  return images;
}

export function sameImages(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([name, size]) => b.get(name) === size);
}
