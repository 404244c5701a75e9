import type { Node, Pod } from '../common/types.ts';
import type { Decision } from './placement/node-decision.ts';

/** The field by which node affinity pins a pod to a node. */
const NODE_NAME_FIELD = 'metadata.name';

/**
 * The node that a pod is on, or was made for: `spec.nodeName`, else the one node that its required affinity names.
 * @returns undefined when neither names a node: the pod counts for no node
 */
export function targetNode({ spec }: Readonly<Pod>): string | undefined {
  if (spec?.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  for (const { matchFields = [] } of terms)
    for (const { key, operator, values = [] } of matchFields)
      if (key === NODE_NAME_FIELD && operator === 'In') return values.length === 1 ? values[0] : undefined;
  return undefined;
}

/** The required affinity that pins a pod to a node; {@link targetNode} reads it back. */
export function pinnedTo(node: string): { nodeSelectorTerms: { matchFields: { key: string; operator: string; values: string[] }[] }[] } {
  return { nodeSelectorTerms: [{ matchFields: [{ key: NODE_NAME_FIELD, operator: 'In', values: [node] }] }] };
}

/** Order of the pods on a node, of which the first counts: bound ones first, then by age, then by name. */
export function inOrder(a: Readonly<Pod>, b: Readonly<Pod>): number {
  const placed = Number(isPlaced(b)) - Number(isPlaced(a));
  if (placed !== 0) return placed;
  const [older, younger] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  // The API server writes all times in the same format, so they sort as text.
  if (older !== younger) return older < younger ? -1 : 1;
  const [one, other] = [a.metadata.name ?? '', b.metadata.name ?? ''];
  return one === other ? 0 : one < other ? -1 : 1;
}

export function isPlaced({ spec }: Readonly<Pod>): boolean {
  return spec?.nodeName !== undefined && spec.nodeName !== '';
}

/** The pod has a deletionTimestamp. */
export function isTerminating({ metadata }: Readonly<Pod>): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** The pod has ended and will never run again. */
export function isOver({ status }: Readonly<Pod>): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

export const nameOf = ({ metadata }: Readonly<Pod> | Readonly<Node>): string => metadata.name ?? '';

/** One node and a set's pods on it. */
export interface NodePods {
  readonly node: string;
  /** undefined: the node does not exist, only pods made for it. */
  readonly known: { readonly object: Readonly<Node>; readonly decision: Decision } | undefined;
  /** In the order of {@link inOrder}. Without terminating pods that have ended: these must not block a new pod. */
  readonly pods: readonly Readonly<Pod>[];
  /** Terminating pods that have ended: they count for the history only. */
  readonly ended: readonly Readonly<Pod>[];
}

const noPods: readonly Readonly<Pod>[] = [];

/** @param pods - the set's, made for this node; in any order */
export function nodePodsOf(node: string, known: NodePods['known'], pods: readonly Readonly<Pod>[]): NodePods {
  if (pods.length === 0) return { node, known, pods: noPods, ended: noPods };
  if (pods.length === 1) {
    const [pod] = pods;
    return pod !== undefined && isTerminating(pod) && isOver(pod)
      ? { node, known, pods: noPods, ended: pods }
      : { node, known, pods, ended: noPods };
  }
  const hasEnded = (pod: Readonly<Pod>): boolean => isTerminating(pod) && isOver(pod);
  const ended = pods.filter(hasEnded);
  const there = ended.length === 0 ? pods : pods.filter((pod) => !hasEnded(pod));
  return { node, known, pods: there.toSorted(inOrder), ended };
}

/** Pods without a recognizable node: they keep their revisions from being deleted, and count for nothing else. */
export function nowhere(pods: readonly Readonly<Pod>[]): NodePods {
  return { node: '', known: undefined, pods: noPods, ended: pods };
}
