import { FOREGROUND, ORPHAN } from '../handlers/write-options.ts';
import type { KubeObject, OwnerReference } from '../../kube/api/object.ts';
import type { Propagation } from '../handlers/write-options.ts';
import type { Change } from '../storage/watch-log.ts';

/** State of an owner: it exists; it waits for its dependents (foreground deletion); it does not exist; or its kind is not served. */
export type Owner = 'solid' | 'waiting' | 'absent' | 'unknown';

/** What becomes of an object that has owners. */
export type Verdict =
  { do: 'keep' } | { do: 'leave'; owners: ReadonlySet<string> } | { do: 'delete'; propagation: Propagation; unblock: boolean };

/** Judges an object by its owners. An owner of a kind that is not served cannot be asked for, so nothing is done. */
export function judge(object: KubeObject, ownerOf: (reference: OwnerReference) => Owner, dependents: () => readonly KubeObject[]): Verdict {
  const references = object.metadata.ownerReferences ?? [];
  if (references.length === 0 || object.metadata.deletionTimestamp !== undefined) return { do: 'keep' };
  const owners = references.map((reference) => ({ uid: reference.uid, is: ownerOf(reference) }));
  if (owners.some(({ is }) => is === 'unknown')) return { do: 'keep' };
  const others = owners.filter(({ is }) => is !== 'solid');
  if (others.length < owners.length) {
    // A solid owner keeps it; references to owners that are absent or wait are removed.
    return others.length === 0 ? { do: 'keep' } : { do: 'leave', owners: new Set(others.map(({ uid }) => uid)) };
  }
  if (others.some(({ is }) => is === 'waiting')) {
    const owned = dependents();
    if (owned.length > 0) return { do: 'delete', propagation: 'Foreground', unblock: owned.some(isWaiting) };
  }
  const held = object.metadata.finalizers ?? [];
  const propagation = held.includes(ORPHAN) ? 'Orphan' : held.includes(FOREGROUND) ? 'Foreground' : 'Background';
  return { do: 'delete', propagation, unblock: false };
}

/** Whether it is terminating and waits for its dependents (foreground). */
export function isWaiting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(FOREGROUND) === true;
}

/** Whether it is terminating and its dependents are orphaned first. */
export function isOrphaning({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(ORPHAN) === true;
}

/** Whether an owner that waits has to wait for this dependent. */
export function blocks(dependent: KubeObject, uid: string | undefined): boolean {
  return dependent.metadata.ownerReferences?.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true) === true;
}

/** Where an object lies. */
export interface Place {
  /** Of its kind, as storage has it. */
  kind: string;
  key: string;
}

/** Which objects name an owner, by the owner's uid. Follows the changes of a storage; objects without owners cost nothing. */
export class Dependents {
  readonly #byOwner = new Map<string, Map<string, Place>>();

  /** Takes in a change of an object of `kind`. */
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

  /** In the order in which they came to their owner. */
  of(uid: string | undefined): Place[] {
    return [...(this.#byOwner.get(uid ?? '')?.values() ?? [])];
  }
}
