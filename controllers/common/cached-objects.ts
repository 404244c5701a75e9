import type { KubeObject } from '../../kube/api/object.ts';
import type { Informer } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owners.ts';

/** Reads each object once: one of a cache never changes, so what was read stays true for as long as the object is there. */
export function memoize<T extends object, R>(read: (object: T) => R): (object: T) => R {
  const known = new WeakMap<T, R>();
  return (object) => {
    const value = known.get(object) ?? read(object);
    known.set(object, value);
    return value;
  };
}

/** Name of the index of objects by the UID of their controller; orphans by namespace. */
export const BY_OWNER = 'owner';

export const orphanValue = (namespace: string): string => `orphans/${namespace}`;

export function byOwner(object: Readonly<KubeObject>): string[] {
  const owner = controllerOf(object);
  return [owner === undefined ? orphanValue(object.metadata.namespace ?? '') : owner.uid];
}

/**
 * What an owner has in a cache, and the orphans that it might adopt.
 * @param index - one that has these where {@link byOwner} puts them
 */
export function ownedOrOrphaned<T extends KubeObject>(
  cache: Pick<Informer<T>, 'indexed'>,
  { metadata: { uid = '', namespace = '' } }: Readonly<KubeObject>,
  index: string = BY_OWNER,
): Readonly<T>[] {
  return [...cache.indexed(index, uid), ...cache.indexed(index, orphanValue(namespace))];
}
