import type { Change } from '../storage/watch-log.ts';

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
