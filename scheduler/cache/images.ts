import type { Node } from '../types.ts';

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
