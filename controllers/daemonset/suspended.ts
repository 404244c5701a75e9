import type { Key } from '../../kube/cache/contract.ts';

/**
 * Which sets want to run on a node that has no room for them. Where the controller itself places pods nobody else waits for room, so it remembers whom to
 * wake when a pod leaves.
 */
export class SuspendedSets {
  readonly #byNode = new Map<string, Set<Key>>();

  /** A set has been looked at on a node. What was known of the two is replaced. */
  evaluated(set: Key, node: string, suspended: boolean): void {
    if (!suspended) {
      this.#take(set, node);
      return;
    }
    const waiting = this.#byNode.get(node);
    if (waiting === undefined) this.#byNode.set(node, new Set([set]));
    else waiting.add(set);
  }

  /** @returns the sets to look at again now that something has left the node; each stays here until it has been looked at */
  freed(node: string): Key[] {
    return [...(this.#byNode.get(node) ?? [])];
  }

  /** The set is gone. */
  forgetSet(set: Key): void {
    for (const node of this.#byNode.keys()) this.#take(set, node);
  }

  /** Pairs of set and node. */
  get size(): number {
    let size = 0;
    for (const waiting of this.#byNode.values()) size += waiting.size;
    return size;
  }

  #take(set: Key, node: string): void {
    const waiting = this.#byNode.get(node);
    if (waiting?.delete(set) && waiting.size === 0) this.#byNode.delete(node);
  }
}
