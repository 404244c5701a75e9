import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../kube/api/object.ts';
import type { Context } from '../handlers/context.ts';
import { deleteObject, FOREGROUND, ORPHAN } from '../handlers/delete.ts';
import { commitUpdate } from '../handlers/write.ts';
import { type ServedKind, storageName } from '../kinds/kind.ts';
import { StatusError } from '../errors.ts';
import { storageKey } from '../storage/storage.ts';
import type { Change } from '../storage/watch-log.ts';
import { blocks, Dependents, isOrphaning, isWaiting, type Owner, type Place, planOwned } from './plan.ts';

/** Objects processed in one turn of the event loop, so that a large collection does not block it. */
const TURN = 500;

/**
 * Deletes objects that have lost their owners, with all three propagation policies, like the garbage collector of kube-controller-manager. It processes an
 * object when the object or an owner changes, in a later turn of the event loop; it never waits and holds no timer.
 */
export class Collector {
  readonly #context: Context;
  readonly #log: Log;
  readonly #dependents = new Dependents();
  readonly #queue = new Map<string, Place>();
  #waiters: (() => void)[] = [];
  #isScheduled = false;

  constructor(context: Context, log: Log) {
    this.#context = context;
    this.#log = log;
    context.storage.onChange((kind, change) => this.#changed(kind, change));
  }

  /** Resolves once no object is left to process. */
  settled(): Promise<void> {
    return this.#queue.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  #changed(kind: string, change: Change): void {
    this.#dependents.apply(kind, change);
    const { object, previous, key } = change;
    const { uid, ownerReferences, deletionTimestamp } = object.metadata;
    const place = { kind, key };
    if (change.type === 'DELETED') {
      this.#enqueue(this.#dependents.of(uid));
      // An owner in foreground deletion may have waited for this dependent.
      for (const reference of ownerReferences ?? []) this.#enqueue(this.#ownerPlaces(reference, object));
      return;
    }
    if (ownerReferences !== undefined && ownerReferences !== previous?.metadata.ownerReferences) {
      this.#enqueue([place]);
      for (const reference of previous?.metadata.ownerReferences ?? []) this.#enqueue(this.#ownerPlaces(reference, object));
    } else if (previous?.metadata.ownerReferences !== ownerReferences) {
      for (const reference of previous?.metadata.ownerReferences ?? []) this.#enqueue(this.#ownerPlaces(reference, object));
    }
    if (deletionTimestamp === undefined) return;
    this.#enqueue([place]);
    if (isWaiting(object) && (previous === undefined || !isWaiting(previous))) this.#enqueue(this.#dependents.of(uid));
  }

  #enqueue(places: readonly Place[]): void {
    for (const place of places) this.#queue.set(`${place.kind} ${place.key}`, place);
    if (this.#queue.size === 0 || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    let left = TURN;
    for (const [id, place] of this.#queue) {
      if (left-- === 0) break;
      this.#queue.delete(id);
      this.#visit(place);
    }
    this.#enqueue([]);
    if (this.#queue.size > 0) return;
    for (const done of this.#waiters.splice(0)) done();
  }

  #visit(place: Place): void {
    const object = this.#context.storage.get(place.kind, place.key);
    const served = this.#served(place.kind);
    if (object === undefined || served === undefined) return;
    try {
      if (isOrphaning(object)) this.#orphan(served, place, object);
      else if (isWaiting(object)) this.#finishForeground(served, place, object);
      else this.#process(served, place, object);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      this.#log.warn('failed to collect object', { ...place, error: describeError(error) });
    }
  }

  /** Removes the owner's references from its dependents, which stay. */
  #orphan(served: ServedKind, place: Place, owner: KubeObject): void {
    for (const dependent of this.#dependents.of(owner.metadata.uid)) this.#removeReferences(dependent, (uid) => uid === owner.metadata.uid);
    this.#release(served, place, owner, ORPHAN);
  }

  /** Removes the owner once no dependent blocks it. */
  #finishForeground(served: ServedKind, place: Place, owner: KubeObject): void {
    const { uid } = owner.metadata;
    if (!this.#owned(uid).some((dependent) => blocks(dependent, uid))) this.#release(served, place, owner, FOREGROUND);
  }

  #process(served: ServedKind, place: Place, object: KubeObject): void {
    const { namespace = '', name = '', uid, resourceVersion } = object.metadata;
    const step = planOwned(
      object,
      (reference) => this.#ownerState(reference, object),
      () => this.#owned(uid),
    );
    switch (step.do) {
      case 'keep':
        return;
      case 'release':
        return this.#removeReferences(place, (owner) => step.owners.has(owner));
      case 'delete': {
        let version = resourceVersion;
        if (step.unblock) {
          const ownerReferences = object.metadata.ownerReferences?.map((one) => ({ ...one, blockOwnerDeletion: false })) ?? [];
          version = this.#change(served, place, object, { ownerReferences }).metadata.resourceVersion;
        }
        const preconditions = { ...(uid === undefined ? {} : { uid }), ...(version === undefined ? {} : { resourceVersion: version }) };
        deleteObject(this.#context, served, { namespace, name }, { dryRun: false, propagation: step.propagation, ...preconditions });
      }
    }
  }

  #ownerState(reference: OwnerReference, dependent: KubeObject): Owner {
    const [place] = this.#ownerPlaces(reference, dependent);
    if (place === undefined) return 'unknown';
    const owner = this.#context.storage.get(place.kind, place.key);
    if (owner === undefined || owner.metadata.uid !== reference.uid) return 'absent';
    return isWaiting(owner) ? 'waiting' : 'present';
  }

  /** Place of an owner: in the namespace of its dependent, or cluster-scoped. Empty if this kind cannot own the dependent, or is not served. */
  #ownerPlaces({ apiVersion: version, kind: name, name: owner }: OwnerReference, dependent: KubeObject): Place[] {
    const served = this.#context.registry.named(version, name);
    const { namespace = '' } = dependent.metadata;
    if (served === undefined || (served.kind.namespaced && namespace === '')) return [];
    return [{ kind: storageName(served.kind), key: storageKey(served.kind.namespaced ? namespace : '', owner) }];
  }

  #owned(uid: string | undefined): KubeObject[] {
    return this.#dependents.of(uid).flatMap(({ kind, key }) => this.#context.storage.get(kind, key) ?? []);
  }

  #removeReferences(place: Place, isLeft: (uid: string) => boolean): void {
    const served = this.#served(place.kind);
    const object = this.#context.storage.get(place.kind, place.key);
    if (served === undefined || object === undefined) return;
    const kept = object.metadata.ownerReferences?.filter(({ uid }) => !isLeft(uid)) ?? [];
    this.#change(served, place, object, { ownerReferences: kept });
  }

  #release(served: ServedKind, place: Place, object: KubeObject, finalizer: string): void {
    this.#change(served, place, object, { finalizers: object.metadata.finalizers?.filter((one) => one !== finalizer) ?? [] });
  }

  #change(served: ServedKind, { key }: Place, object: KubeObject, to: Pick<ObjectMeta, 'finalizers' | 'ownerReferences'>): KubeObject {
    const metadata: ObjectMeta = { ...object.metadata, ...to };
    if (metadata.finalizers?.length === 0) delete metadata.finalizers;
    if (metadata.ownerReferences?.length === 0) delete metadata.ownerReferences;
    return commitUpdate(this.#context, served, key, { ...object, metadata }, object, false);
  }

  #served(name: string): ServedKind | undefined {
    return this.#context.registry.stored(name);
  }
}
