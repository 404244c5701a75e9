import type { Node as NodeFields } from 'kubernetes-types/core/v1.js';
import type { Kube } from '../../../kube/api/object.ts';
import { annotation } from './behaviour.ts';
import type { Pod } from './behaviour.ts';

export type Node = Kube<NodeFields>;

/** Where a pod's node stands: ours; ours once, and deleted since; or nobody's we know. */
export type Home = { node: Readonly<Node> } | 'lost' | 'foreign';

/** `bind` it to the node that its affinity names; `report`: make its status say what becomes of it; `remove`: finish its deletion. */
export type Step = { do: 'nothing' | 'report' | 'remove' } | { do: 'bind'; node: string };

/**
 * What a kubelet does next for the pod, or a scheduler, or whoever cleans up after lost nodes.
 * @param home - of the pod's node, or of the one that it is pinned to
 */
export function nextStep(pod: Readonly<Pod>, home: Home, binds: boolean): Step {
  const { deletionTimestamp } = pod.metadata;
  const { nodeName = '' } = pod.spec ?? {};
  if (nodeName === '') {
    const pinned = pinnedTo(pod);
    const bindable = binds && pinned !== undefined && typeof home === 'object' && deletionTimestamp === undefined;
    return bindable ? { do: 'bind', node: pinned } : { do: 'nothing' };
  }
  if (home === 'foreign') return { do: 'nothing' };
  if (home === 'lost') return { do: 'remove' };
  if (isDead(home.node)) return { do: 'nothing' };
  return deletionTimestamp === undefined ? { do: 'report' } : { do: 'remove' };
}

/** Its kubelet does nothing any more. */
export function isDead(node: Readonly<Node>): boolean {
  return node.metadata.annotations?.[annotation] === 'dead';
}

/** The one node that the pod's affinity allows; undefined when it names none, or several. */
export function pinnedTo(pod: Readonly<Pod>): string | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const [field, ...others] = terms.flatMap(({ matchFields = [] }) => matchFields);
  if (terms.length !== 1 || field === undefined || others.length > 0) return undefined;
  const [name, ...more] = field.values ?? [];
  return field.key === 'metadata.name' && field.operator === 'In' && more.length === 0 ? name : undefined;
}

/** Where the pod is, or is to be. */
export function homeOf(pod: Readonly<Pod>): string {
  const { nodeName = '' } = pod.spec ?? {};
  return nodeName === '' ? (pinnedTo(pod) ?? '') : nodeName;
}
