import type { ClusterEvent } from '../../cluster-event.ts';
import type { Node } from '../../types.ts';

/** Whether a node passes now that did not before, or was not there. */
export function nodeComesToPass(event: ClusterEvent, passes: (node: Readonly<Node>) => boolean): boolean {
  if (event.kind === 'node-added') return passes(event.after);
  return event.kind === 'node-updated' && passes(event.after) && !passes(event.before);
}
