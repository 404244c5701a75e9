import { jsonEqual } from '../../kube/api/json.ts';
import { identityOf } from '../../kube/api/ordinals.ts';
import type { Change } from '../../kube/cache/change.ts';
import { objectKey, type Key, type Lister } from '../../kube/cache/contract.ts';
import { isDefaultClass } from './observe.ts';
import type { Rules } from './rules.ts';
import type { Pvc, StatefulSet, StorageClass, Pod } from '../common/types.ts';
import { isControlledBy } from '../../kube/controller/owners.ts';

/**
 * Sets whose pods may wait for a claim that was deleted or created: the name of the claim says which. Updates are ignored unless they change the claim's
 * deletionTimestamp or owners: a write whose response was lost may take effect late and undo the retention policy.
 */
export function enqueueOnPvc(
  change: Change<Pvc>,
  sets: Pick<Lister<StatefulSet>, 'get'>,
  rules: (set: Readonly<StatefulSet>) => Rules,
): Key[] {
  if (change.do === 'update' && isSame(change.before, change.after)) return [];
  const { name = '', namespace } = (change.do === 'delete' ? change.last : change.do === 'add' ? change.object : change.after).metadata;
  const identity = identityOf(name);
  if (identity === undefined) return [];
  // TEMPLATE-SET: both names may contain hyphens, so every split is looked up.
  const keys: Key[] = [];
  for (let at = identity.parent.indexOf('-'); at >= 0; at = identity.parent.indexOf('-', at + 1)) {
    const template = identity.parent.slice(0, at);
    const key = objectKey({ metadata: { name: identity.parent.slice(at + 1), ...(namespace === undefined ? {} : { namespace }) } });
    const set = sets.get(key);
    if (set !== undefined && rules(set).claimTemplates.some(({ metadata }) => metadata.name === template)) keys.push(key);
  }
  return keys;
}

function isSame({ metadata: before }: Readonly<Pvc>, { metadata: after }: Readonly<Pvc>): boolean {
  return before.deletionTimestamp === after.deletionTimestamp && jsonEqual(before.ownerReferences ?? [], after.ownerReferences ?? []);
}

/** Sets that expand claims, when a class may allow expansion now, or another class is the default. */
export function enqueueOnStorageClass(
  change: Change<StorageClass>,
  sets: Pick<Lister<StatefulSet>, 'list'>,
  rules: (set: Readonly<StatefulSet>) => Rules,
): Key[] {
  if (change.do === 'update' && isSameClass(change.before, change.after)) return [];
  return sets
    .list()
    .filter((set) => rules(set).optIns.expandClaims)
    .map(objectKey);
}

function isSameClass(before: Readonly<StorageClass>, after: Readonly<StorageClass>): boolean {
  return before.allowVolumeExpansion === after.allowVolumeExpansion && isDefaultClass(before) === isDefaultClass(after);
}

/**
 * The set that may wait for the name of a pod that it does not own: of a former set of its name, or created by hand. Without this, the backoff of the
 * rejected creations would last up to a quarter of an hour after the name is free.
 */
export function enqueueOnPodName(change: Change<Pod>, sets: Pick<Lister<StatefulSet>, 'get'>): Key[] {
  if (change.do !== 'delete') return [];
  const { name = '', namespace = '' } = change.last.metadata;
  const parent = identityOf(name)?.parent;
  if (parent === undefined) return [];
  const key = objectKey({ metadata: { name: parent, namespace } });
  const set = sets.get(key);
  // Its own pods enqueue the set through their owner references.
  return set === undefined || isControlledBy(change.last, set) ? [] : [key];
}
