import { matchesLabels } from '../../../kube/api/selector.ts';
import type { PodInfo } from '../../pod/pod-info.ts';
import { spreadConstraintsOf, type SpreadConstraint } from '../../pod/spread-constraints.ts';
import type { Node } from '../../types.ts';
import type { Hint } from '../contract.ts';
import { selectsNode, toleratesNode } from './node-rules.ts';

const known = new WeakMap<PodInfo, readonly SpreadConstraint[]>();

/** Pods that are counted are more or fewer, or the domains are others. Fewer help in their own domain, more in all others. */
export const podTopologySpread: Hint = (info, event) => {
  const hard = hardConstraintsOf(info);
  const counts = (other: PodInfo) =>
    other.namespace === info.namespace && hard.some(({ selector }) => selector !== undefined && matchesLabels(selector, other.labels));
  switch (event.kind) {
    case 'assigned-pod-added':
      return !event.after.terminating && counts(event.after);
    case 'assigned-pod-deleted':
      return counts(event.before); // also on its way out: as somebody's room that was kept it was counted until now
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

/** The domains that a node is in, for constraints that look at it, as text; '' for none. A node without one of the keys is in none. */
function domainsOf(info: PodInfo, constraints: readonly SpreadConstraint[], node: Readonly<Node>): string {
  const labels = node.metadata.labels ?? {};
  if (!constraints.every(({ topologyKey }) => Object.hasOwn(labels, topologyKey))) return '';
  const domains = constraints.map(({ topologyKey, honorsAffinity, honorsTaints }) =>
    (honorsAffinity && !selectsNode(info, node)) || (honorsTaints && !toleratesNode(info, node)) ? null : labels[topologyKey],
  );
  return domains.some((domain) => domain !== null) ? JSON.stringify(domains) : '';
}
