import { isDeepStrictEqual } from 'node:util';
import type { Taint } from 'kubernetes-types/core/v1.js';
import type { NodeAspect } from '../cluster-event.ts';
import type { Node } from '../types.ts';

/** What of a node is different. Heartbeats leave it empty. */
export function changedAspects(before: Readonly<Node>, after: Readonly<Node>): Set<NodeAspect> {
  const changed = new Set<NodeAspect>();
  if (!isDeepStrictEqual(before.status?.allocatable, after.status?.allocatable)) changed.add('allocatable');
  if (!isDeepStrictEqual(before.metadata.labels, after.metadata.labels)) changed.add('labels');
  if (before.spec !== after.spec && taintsKey(before) !== taintsKey(after)) changed.add('taints');
  if (!isDeepStrictEqual(statesOf(before), statesOf(after))) changed.add('conditions');
  if (!isDeepStrictEqual(before.metadata.annotations, after.metadata.annotations)) changed.add('annotations');
  return changed;
}

/** The same text for nodes that keep the same pods away, cordon included. The order counts: the first taint in the way is the one that people read of. */
export function taintsKey({ spec }: Readonly<Node>): string {
  const taints = spec?.taints ?? [];
  if (taints.length === 0) return spec?.unschedulable === true ? '!' : '';
  return `${spec?.unschedulable === true ? '!' : ''}${JSON.stringify(taints.map(({ key, value, effect }: Taint) => [key, value ?? '', effect]))}`;
}

/** Region and zone as one text; '' without either. */
export function zoneOf({ metadata: { labels = {} } }: Readonly<Node>): string {
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? '';
  return zone === '' && region === '' ? '' : `${region}:${zone}`;
}

function statesOf({ status }: Readonly<Node>): [string, string][] {
  return (status?.conditions ?? []).map(({ type, status }) => [type, status]);
}
