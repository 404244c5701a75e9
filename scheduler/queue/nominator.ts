import type { PodInfo } from '../pod/pod-info.ts';

const none: readonly PodInfo[] = [];

/** Which pods are promised which nodes: pods without a place whose victims are going, or that were said to go there. */
export class Nominator {
  readonly #nodeOf = new Map<string, string>();
  /** Lists are replaced, never changed. None is empty. */
  readonly #byNode = new Map<string, readonly PodInfo[]>();

  get size(): number {
    return this.#nodeOf.size;
  }

  /** Nodes that are promised to somebody. */
  get nodes(): Iterable<string> {
    return this.#byNode.keys();
  }

  /** Those who are promised this node, in the order of the nominations. */
  on(node: string): readonly PodInfo[] {
    return this.#byNode.get(node) ?? none;
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodeOf.get(uid);
  }

  /**
   * A promise, in place of one that the pod had. A pod that is on a node already gets none, and loses what it had.
   * @param node - '' takes the promise away. @default what the pod's status says
   */
  add(info: PodInfo, node = nominatedNodeOf(info)): void {
    this.delete(info.uid);
    if (node === '' || info.nodeName !== '') return;
    this.#nodeOf.set(info.uid, node);
    this.#byNode.set(node, [...this.on(node), info]);
  }

  /**
   * The pod changed. Only a change of what its status says moves the promise: one that was made here is not in the status before the API server has it,
   * and one that was taken away here is still there until then.
   */
  update(before: PodInfo, after: PodInfo): void {
    if (before.uid !== after.uid) {
      this.delete(before.uid);
      this.add(after);
      return;
    }
    const node = nominatedNodeOf(after);
    if (after.nodeName !== '' || node !== nominatedNodeOf(before)) {
      this.add(after, node);
      return;
    }
    const known = this.#nodeOf.get(after.uid);
    if (known !== undefined)
      this.#byNode.set(
        known,
        this.on(known).map((info) => (info.uid === after.uid ? after : info)),
      );
  }

  /** @returns the node that it was promised */
  delete(uid: string): string | undefined {
    const node = this.#nodeOf.get(uid);
    if (node === undefined) return undefined;
    this.#nodeOf.delete(uid);
    const left = this.on(node).filter((info) => info.uid !== uid);
    if (left.length === 0) this.#byNode.delete(node);
    else this.#byNode.set(node, left);
    return node;
  }
}

/** What its status says; '' for nothing. */
export function nominatedNodeOf({ pod }: PodInfo): string {
  return pod.status?.nominatedNodeName ?? '';
}
