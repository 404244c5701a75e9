import { FOREGROUND, ORPHAN, type Propagation } from '../handlers/delete.ts';
import type { KubeObject, OwnerReference } from '../../kube/api/object.ts';
import type { Change } from '../storage/watch-log.ts';

/** State of an owner: it exists; it waits for its dependents (foreground deletion); it does not exist; or its kind is not served. */
export type Owner = 'present' | 'waiting' | 'absent' | 'unknown';

/** Keep the object, remove references to these owners from it, or delete it. */
export type Step =
  { do: 'keep' } | { do: 'release'; owners: ReadonlySet<string> } | { do: 'delete'; propagation: Propagation; unblock: boolean };

/** What to do with an object, given the states of its owners. An object with an owner of an unserved kind is kept. */
export function planOwned(
  object: KubeObject,
  ownerOf: (reference: OwnerReference) => Owner,
  dependents: () => readonly KubeObject[],
): Step {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0 || object.metadata.deletionTimestamp !== undefined) return { do: 'keep' };
  const owners = references.map((reference) => ({ uid: reference.uid, is: ownerOf(reference) }));
  if (owners.some(({ is }) => is === 'unknown')) return { do: 'keep' };
  const others = owners.filter(({ is }) => is !== 'present');
  if (others.length < owners.length) {
    // A present owner keeps the object; references to absent and waiting owners are removed.
    return others.length === 0 ? { do: 'keep' } : { do: 'release', owners: new Set(others.map(({ uid }) => uid)) };
  }
  if (others.some(({ is }) => is === 'waiting')) {
    const owned = dependents();
    if (owned.length > 0) return { do: 'delete', propagation: 'Foreground', unblock: owned.some(isWaiting) };
  }
  const held = object.metadata.finalizers ?? [];
  const propagation = held.includes(ORPHAN) ? 'Orphan' : held.includes(FOREGROUND) ? 'Foreground' : 'Background';
  return { do: 'delete', propagation, unblock: false };
}

/** Whether the object is terminating and waits for its dependents (foreground). */
export function isWaiting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(FOREGROUND) === true;
}

/** Whether the object is terminating and its dependents are orphaned first. */
export function isOrphaning({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(ORPHAN) === true;
}

/** Whether this dependent blocks the foreground deletion of its owner. */
export function blocks(dependent: KubeObject, uid: string | undefined): boolean {
  return dependent.metadata.ownerReferences?.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true) === true;
}

/** Storage kind and key of an object. */
export interface Place {
  /** Storage name of its kind. */
  kind: string;
  key: string;
}

/** Index of dependents by the owner's UID. Follows the changes of a storage; objects without owners cost nothing. */
export class Dependents {
  readonly #byOwner = new Map<string, Map<string, Place>>();

  /** Applies a change of an object of `kind`. */
  apply(kind: string, { type, key, object, previous }: Change): void {
    const before = previous?.metadata.ownerReferences;
    const after = type === 'DELETED' ? undefined : object.metadata.ownerReferences;
    if (before === after) return;
    const id = `${kind} ${key}`;
    for (const { uid } of before ?? []) {
      const owned = this.#byOwner.get(uid);
      if (owned?.delete(id) === true && owned.size === 0) this.#byOwner.delete(uid);
    }
    for (const { uid } of after ?? []) {
      const owned = this.#byOwner.get(uid) ?? new Map<string, Place>();
      owned.set(id, { kind, key });
      this.#byOwner.set(uid, owned);
    }
  }

  /** The dependents of an owner, in the order in which their references were added. */
  of(uid: string | undefined): Place[] {
    return [...(this.#byOwner.get(uid ?? '')?.values() ?? [])];
  }
}
