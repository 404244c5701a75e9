import { identityOf } from '../../kube/api/ordinals.ts';
import type { Change } from '../../kube/cache/change.ts';
import { objectKey, type Key, type Lister } from '../../kube/cache/contract.ts';
import { isControlledBy } from '../../kube/controller/owner-refs.ts';
import type { Pod, StatefulSet } from './types.ts';

/**
 * The set that may wait for the name of a pod that was none of its own: of a former set of its name, or made by hand. Without this the backoff of the
 * refused creations would go on for up to a quarter of an hour after the name is free.
 */
export function wakesOfName(change: Change<Pod>, sets: Pick<Lister<StatefulSet>, 'get'>): Key[] {
  if (change.do !== 'delete') return [];
  const { name = '', namespace = '' } = change.last.metadata;
  const parent = identityOf(name)?.parent;
  if (parent === undefined) return [];
  const key = objectKey({ metadata: { name: parent, namespace } });
  const set = sets.get(key);
  // Its own wake it anyway.
  return set === undefined || isControlledBy(change.last, set) ? [] : [key];
}
