import type { Decision } from './placement/decision.ts';
import { inOrder, isGoing, isOver } from './pods.ts';
import type { Node, Pod } from './types.ts';

/** One node and what a set has on it. */
export interface Cell {
  readonly node: string;
  /** undefined: there is no such node, only pods made for it. */
  readonly known: { readonly object: Readonly<Node>; readonly decision: Decision } | undefined;
  /** In the order in which they count. Without those that have ended and are going, which must not stand in the way of a new one. */
  readonly pods: readonly Readonly<Pod>[];
  /** The others: they count for history alone. */
  readonly ended: readonly Readonly<Pod>[];
}

const nobody: readonly Readonly<Pod>[] = [];

/** @param pods - the set's, made for this node; in any order */
export function cellOf(node: string, known: Cell['known'], pods: readonly Readonly<Pod>[]): Cell {
  if (pods.length === 0) return { node, known, pods: nobody, ended: nobody };
  if (pods.length === 1) {
    const [pod] = pods;
    return pod !== undefined && isGoing(pod) && isOver(pod)
      ? { node, known, pods: nobody, ended: pods }
      : { node, known, pods, ended: nobody };
  }
  const hasEnded = (pod: Readonly<Pod>): boolean => isGoing(pod) && isOver(pod);
  const ended = pods.filter(hasEnded);
  const there = ended.length === 0 ? pods : pods.filter((pod) => !hasEnded(pod));
  return { node, known, pods: there.toSorted(inOrder), ended };
}

/** Pods that were made for no node that one could tell: they keep their revisions from being forgotten, and count for nothing else. */
export function nowhere(pods: readonly Readonly<Pod>[]): Cell {
  return { node: '', known: undefined, pods: nobody, ended: pods };
}
