import { matchesLabels } from '../../../kube/api/selector.ts';
import type { PodInfo } from '../../pod/pod-info.ts';
import { type AffinityTerm, type NamespaceLabels, type SpreadConstraint, spreadConstraintsOf, termMatches } from '../../pod/selectors.ts';
import type { Namespace, Node } from '../../types.ts';
import type { Hint } from '../contract.ts';
import { selectsNode } from '../../plugins/node-affinity.ts';
import { toleratesNode } from './node.ts';

type Labels = Readonly<Record<string, string>>;

const known = new WeakMap<PodInfo, readonly SpreadConstraint[]>();

/** The number of counted pods or the set of domains changed. Fewer pods help in their own domain, more pods help in all other domains. */
export const podTopologySpread: Hint = (info, event) => {
  const hard = hardConstraintsOf(info);
  const counts = (other: PodInfo) =>
    other.namespace === info.namespace && hard.some(({ selector }) => selector !== undefined && matchesLabels(selector, other.labels));
  switch (event.kind) {
    case 'assigned-pod-added':
      return !event.after.terminating && counts(event.after);
    case 'assigned-pod-deleted':
      return counts(event.before); // also when terminating: a reservation in its place was counted until now
    case 'assigned-pod-updated': {
      const { before, after } = event;
      if (before.terminating !== after.terminating) return counts(before) || counts(after);
      return before.labels !== after.labels && countedBy(hard, before) !== countedBy(hard, after) && before.namespace === info.namespace;
    }
    case 'node-added':
      return domainsOf(info, hard, event.after) !== '';
    case 'node-deleted':
      return domainsOf(info, hard, event.before) !== '';
    case 'node-updated':
      return domainsOf(info, hard, event.before) !== domainsOf(info, hard, event.after);
    case 'namespace-changed':
    case 'storage-changed':
      return false;
  }
};

function hardConstraintsOf(info: PodInfo): readonly SpreadConstraint[] {
  const seen = known.get(info);
  if (seen !== undefined) return seen;
  const { hard } = spreadConstraintsOf(info.pod.spec?.topologySpreadConstraints, info.labels);
  known.set(info, hard);
  return hard;
}

/** Which of the constraints count a pod, as text. */
function countedBy(constraints: readonly SpreadConstraint[], { labels }: PodInfo): string {
  return constraints.map(({ selector }) => (selector !== undefined && matchesLabels(selector, labels) ? '1' : '0')).join('');
}

/** The domains that a node is in, of the constraints that it is eligible for, as text; '' for none. A node without one of the keys is in none. */
function domainsOf(info: PodInfo, constraints: readonly SpreadConstraint[], node: Readonly<Node>): string {
  const labels = node.metadata.labels ?? {};
  if (!constraints.every(({ topologyKey }) => Object.hasOwn(labels, topologyKey))) return '';
  const domains = constraints.map(({ topologyKey, honorsAffinity, honorsTaints }) =>
    (honorsAffinity && !selectsNode(info.pod.spec ?? {}, node.metadata)) || (honorsTaints && !toleratesNode(info, node))
      ? null
      : labels[topologyKey],
  );
  return domains.some((domain) => domain !== null) ? JSON.stringify(domains) : '';
}

/**
 * A pod that its affinity selects was added, one that its anti-affinity selects (or whose anti-affinity selects it) was deleted, or a node changed its domain
 * of a topology key in the pod's own terms or in the anti-affinity of others.
 * @param isAntiKey - whether pods on nodes have required anti-affinity by this topology key
 */
export function interPodAffinity(labelsOf: NamespaceLabels, isAntiKey: (topologyKey: string) => boolean): Hint {
  const selects = (term: AffinityTerm, { namespace, labels }: PodInfo) => termMatches(term, namespace, labels, labelsOf);
  return (info, event) => {
    const { required, requiredAnti } = info.terms;
    const matchesAffinity = (other: PodInfo) => required.length > 0 && required.every((term) => selects(term, other));
    switch (event.kind) {
      case 'assigned-pod-added':
        return matchesAffinity(event.after);
      case 'assigned-pod-updated': {
        const { before, after } = event;
        if (before.labels === after.labels && before.terms === after.terms) return false;
        return (
          (matchesAffinity(after) !== matchesAffinity(before) && (matchesAffinity(after) || matchesAffinity(info))) ||
          requiredAnti.some((term) => selects(term, before) && !selects(term, after)) ||
          (hasAntiAffinityTo(before, info) && !hasAntiAffinityTo(after, info))
        );
      }
      case 'assigned-pod-deleted':
        return (
          requiredAnti.some((term) => selects(term, event.before)) ||
          hasAntiAffinityTo(event.before, info) ||
          (matchesAffinity(event.before) && matchesAffinity(info)) // without any pod that its affinity selects, it may go to any domain as the first one
        );
      case 'node-added': {
        const labels = event.after.metadata.labels ?? {};
        return required.length === 0 || required.some(({ topologyKey }) => Object.hasOwn(labels, topologyKey));
      }
      case 'node-updated':
        return (
          event.changed.has('labels') &&
          changedLabels(event).some(
            (key) => isAntiKey(key) || [...required, ...requiredAnti].some(({ topologyKey }) => topologyKey === key),
          )
        );
      case 'node-deleted':
        return true; // pods on a deleted node no longer count for affinity
      case 'namespace-changed':
        return namespaceMatters(info, event.before, event.after);
      case 'storage-changed':
        return false;
    }
  };

  function hasAntiAffinityTo(other: PodInfo, pod: PodInfo): boolean {
    return other.terms.requiredAnti.some((term) => selects(term, pod));
  }
}

function changedLabels({ before, after }: { before: Readonly<Node>; after: Readonly<Node> }): string[] {
  const was = before.metadata.labels ?? {};
  const is = after.metadata.labels ?? {};
  return Object.keys({ ...was, ...is }).filter((key) => was[key] !== is[key]);
}

/** Whether the pod's terms select the namespace differently than before, or the terms of other pods may select the pod differently. */
function namespaceMatters(info: PodInfo, before: Readonly<Namespace> | undefined, after: Readonly<Namespace>): boolean {
  const { name = '' } = after.metadata;
  const was = before?.metadata.labels ?? {};
  const is = after.metadata.labels ?? {};
  if (name === info.namespace && !sameLabels(was, is)) return true;
  return [...info.terms.required, ...info.terms.requiredAnti].some(
    ({ namespaces, namespaceSelector }) =>
      namespaceSelector !== undefined &&
      !namespaces.has(name) &&
      matchesLabels(namespaceSelector, was) !== matchesLabels(namespaceSelector, is),
  );
}

function sameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
