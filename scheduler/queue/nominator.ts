import type { HeldCapacity } from '../core/hooks.ts';
import type { NominatedPods } from '../engine/engine.ts';
import type { PodInfo } from '../pod/pod-info.ts';

const none: readonly PodInfo[] = [];

/** Which pending pods are nominated for which nodes: after a preemption, or by `status.nominatedNodeName`. */
export class Nominator {
  readonly #nodeOf = new Map<string, string>();
  /** Lists are replaced, never changed. None is empty. */
  readonly #byNode = new Map<string, readonly PodInfo[]>();

  get size(): number {
    return this.#nodeOf.size;
  }

  /** Nodes with nominated pods. */
  get nodes(): Iterable<string> {
    return this.#byNode.keys();
  }

  /** Pods nominated for this node, oldest nomination first. */
  on(node: string): readonly PodInfo[] {
    return this.#byNode.get(node) ?? none;
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodeOf.get(uid);
  }

  /**
   * Nominates the pod, in place of an earlier nomination. A pod that is on a node already gets none and loses what it had.
   * @param node - '' removes the nomination. @default what the pod's status says
   */
  add(info: PodInfo, node = nominatedNodeOf(info)): void {
    this.delete(info.uid);
    if (node === '' || info.nodeName !== '') return;
    this.#nodeOf.set(info.uid, node);
    this.#byNode.set(node, [...this.on(node), info]);
  }

  /**
   * The pod changed. Only a change of its status moves the nomination: one that was made here is not in the status before the API server has it, and one
   * that was removed here is still there until then.
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

  /** @returns the node that it was nominated for */
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

/** `status.nominatedNodeName`; '' if unset. */
export function nominatedNodeOf({ pod }: PodInfo): string {
  return pod.status?.nominatedNodeName ?? '';
}

/** What filters count on a node beside its pods: nominated pods, and pods that capacity is held for. */
export function nominationsOf(nominator: Nominator, held: HeldCapacity): NominatedPods {
  return {
    get nodes() {
      if (held.size === 0) return nominator.nodes;
      if (nominator.size === 0) return held.nodes;
      return new Set([...nominator.nodes, ...held.nodes]);
    },
    on(node, pod) {
      const heldHere = held.podsFor(pod, node);
      const nominated = nominator.on(node);
      if (nominated.length === 0) return heldHere;
      // As upstream: only pods of at least this pod's priority count, and never the pod itself.
      const before = nominated.filter(({ uid, priority }) => uid !== pod.uid && priority >= pod.priority);
      return heldHere.length === 0 ? before : [...before, ...heldHere];
    },
  };
}
