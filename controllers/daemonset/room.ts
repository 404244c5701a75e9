import type { Change } from '../../kube/cache/change.ts';
import type { Informer } from '../../kube/cache/contract.ts';
import type { EnqueueRequest } from '../../kube/controller/controller.ts';
import { isControlledBy } from '../../kube/controller/owner-refs.ts';
import { ON_NODE } from './caches.ts';
import { decideAndSimulate } from './placement/three-values.ts';
import { isOver, nameOf } from './pods.ts';
import type { Decide } from './recount.ts';
import type { Rules } from './rules.ts';
import type { SuspendedSets } from './suspended.ts';
import type { Pod } from './types.ts';

/** Decides where the controller places pods by itself: with what else is on the node, and not the set's own pods, which would be in their own way. */
export function decideByRoom({ template, tolerations, critical, set }: Rules, pods: Pick<Informer<Pod>, 'indexed'>): Decide {
  return (node) => {
    const others = pods.indexed(ON_NODE, nameOf(node)).filter((pod) => !isControlledBy(pod, set));
    return decideAndSimulate({ template, tolerations, node, others, critical });
  };
}

/** Whoever waits for room on a node looks again when a pod there has ended or gone, whosever it was. */
export function wakesOfRoom(change: Change<Pod>, suspended: SuspendedSets): EnqueueRequest[] {
  const node = freedNode(change);
  return node === undefined || node === '' ? [] : suspended.freed(node).map((key) => ({ key, limited: true }));
}

function freedNode(change: Change<Pod>): string | undefined {
  switch (change.do) {
    case 'add':
      return undefined;
    case 'delete':
      return change.last.spec?.nodeName;
    case 'update':
      return !isOver(change.before) && isOver(change.after) ? change.after.spec?.nodeName : undefined;
  }
}
