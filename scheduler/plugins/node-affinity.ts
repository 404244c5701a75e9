import type { NodeSelector, NodeSelectorTerm, PodSpec } from 'kubernetes-types/core/v1.js';
import type { Node } from '../types.ts';
import type { Rejection } from './names.ts';
import { matchesNodeAffinity, matchesNodeSelector } from '../../kube/api/placement.ts';

type NodeConstraints = Readonly<Pick<PodSpec, 'nodeSelector' | 'affinity'>>;

const mismatch: Rejection = { plugin: 'NodeAffinity', resolvable: false, reasons: ["node(s) didn't match Pod's node affinity/selector"] };

const enforced: Rejection = {
  plugin: 'NodeAffinity',
  resolvable: false,
  reasons: ["node(s) didn't match scheduler-enforced node affinity"],
};

const terms = new WeakMap<NodeSelectorTerm, NodeSelector>();

/** @param added - node affinity that the profile adds to each of its pods */
export function nodeAffinity(
  constraints: NodeConstraints,
  added: NodeSelector | undefined,
  { metadata }: Readonly<Node>,
): Rejection | undefined {
  if (added !== undefined && !matchesNodeAffinity(added, metadata)) return enforced;
  return selectsNode(constraints, metadata) ? undefined : mismatch;
}

/** Whether a pod's own node selector and required affinity match this node. */
export function selectsNode({ nodeSelector, affinity }: NodeConstraints, metadata: Readonly<Node>['metadata']): boolean {
  return (
    matchesNodeSelector(nodeSelector, metadata.labels) === undefined &&
    matchesNodeAffinity(affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, metadata)
  );
}

/** Sum of the weights of the preferred terms that the node matches. */
export function preferredWeight({ affinity }: NodeConstraints, { metadata }: Readonly<Node>): number {
  let sum = 0;
  for (const { weight, preference } of affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
    if (weight !== 0 && matchesNodeAffinity(alone(preference), metadata)) sum += weight;
  return sum;
}

/**
 * The nodes that a pod names: each of its terms has to name some (`matchFields` of `metadata.name`).
 * @returns undefined: it may be any node; an empty list: names that exclude each other
 */
export function namedNodes({ affinity }: NodeConstraints): readonly string[] | undefined {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!required?.nodeSelectorTerms?.length) return undefined;
  const all = new Set<string>();
  for (const { matchFields } of required.nodeSelectorTerms) {
    let own: Set<string> | undefined;
    for (const { key, operator, values } of matchFields ?? []) {
      if (key !== 'metadata.name' || operator !== 'In') continue;
      const named = new Set(values ?? []);
      own = own === undefined ? named : new Set([...own].filter((name) => named.has(name)));
    }
    if (own === undefined) return undefined;
    for (const name of own) all.add(name);
  }
  return [...all];
}

function alone(term: NodeSelectorTerm): NodeSelector {
  const known = terms.get(term);
  if (known !== undefined) return known;
  const selector = { nodeSelectorTerms: [term] };
  terms.set(term, selector);
  return selector;
}
