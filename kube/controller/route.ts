import { jsonEqual } from '../api/json.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import type { Change } from '../cache/change.ts';
import { objectKey } from '../cache/contract.ts';
import type { Key, Lister } from '../cache/contract.ts';
import type { Owns, Reads, EnqueueRequest } from './controller.ts';
import { controllerOf, haveSameController, resolveRef } from './owner-refs.ts';

/** What a change comes to, in this order. */
export type Step =
  { do: 'enqueue'; request: EnqueueRequest } | { do: 'forget'; key: Key } | { do: 'creationSeen' | 'deletionSeen'; key: Key; uid: string };

/** A change of an object that the controller looks after. */
export function routePrimary<T extends KubeObject>(change: Change<T>): Step[] {
  switch (change.do) {
    case 'add':
      return [enqueue(objectKey(change.object))];
    case 'update':
      return [enqueue(objectKey(change.after))];
    case 'delete': {
      const key = objectKey(change.last);
      return [{ do: 'forget', key }, enqueue(key)];
    }
  }
}

export function routeRead<T extends KubeObject, O extends KubeObject>(
  change: Change<O>,
  edge: Pick<Reads<T, O>, 'mapFunc'>,
  primaries: Lister<T>,
): Step[] {
  return isResync(change) ? [] : Array.from(edge.mapFunc?.(change, primaries) ?? [], enqueue);
}

/**
 * A change of an object that an owner may have made.
 *
 * | change | which owners it enqueues |
 * | --- | --- |
 * | added, being deleted already (first seen after a restart) | as deleted |
 * | added, with a controller | the owner; it was created |
 * | added, orphan | all that match; none has to look out for it as its own any more |
 * | updated, nothing new (resync) | nobody |
 * | updated, the controller changed | the one it had, for which it is gone; and on with the rows below |
 * | updated, being deleted | as deleted |
 * | updated, with a controller | the owner, perhaps again later |
 * | updated, orphan, labels or controller changed | all that match |
 * | updated, orphan, else | nobody |
 * | deleted, with a controller | the owner; it was deleted |
 * | deleted, last known as an orphan | all that match: one may have adopted it unseen, or counted on adopting it; it was deleted |
 *
 * Released is gone: an owner that had just made it, or was about to delete it, would wait for news that concern nobody any more, until its expectations expire.
 *
 * An owner that is not in the cache under that kind, name and UID is nobody: when it comes, it is enqueued for its own sake.
 */
export function routeOwned<T extends KubeObject, O extends KubeObject>(
  change: Change<O>,
  edge: Pick<Owns<T, O>, 'matching' | 'again'>,
  { resource, lister }: { resource: Resource; lister: Lister<T> },
): Step[] {
  const ownerOf = (object: Readonly<O>): Readonly<T> | undefined => {
    const ref = controllerOf(object);
    // What lives in no namespace may own what does.
    const namespace = resource.namespaced ? object.metadata.namespace : undefined;
    return ref === undefined ? undefined : resolveRef(ref, namespace, resource, lister);
  };
  const observed = (what: 'creationSeen' | 'deletionSeen', object: Readonly<O>): Step[] => {
    const owner = ownerOf(object);
    if (owner === undefined) return [];
    const key = objectKey(owner);
    return [{ do: what, key, uid: object.metadata.uid ?? '' }, enqueue(key)];
  };
  const matching = (orphan: Readonly<O>): Key[] => Array.from(edge.matching?.(orphan, lister) ?? []);
  const gone = (object: Readonly<O>, key: Key): Step[] => [{ do: 'deletionSeen', key, uid: object.metadata.uid ?? '' }, enqueue(key)];

  switch (change.do) {
    case 'add': {
      const { object } = change;
      if (controllerOf(object) === undefined) return matching(object).flatMap((key) => gone(object, key));
      return observed(isGoing(object) ? 'deletionSeen' : 'creationSeen', object);
    }
    case 'delete': {
      const { last } = change;
      return controllerOf(last) === undefined ? matching(last).flatMap((key) => gone(last, key)) : observed('deletionSeen', last);
    }
    case 'update': {
      if (isResync(change)) return [];
      const { before, after } = change;
      const moved = !haveSameController(before, after);
      const former = moved ? ownerOf(before) : undefined;
      const steps = former === undefined ? [] : gone(after, objectKey(former));
      if (isGoing(after)) return [...steps, ...observed('deletionSeen', after)];
      if (controllerOf(after) === undefined)
        return moved || !jsonEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {})
          ? [...steps, ...matching(after).map(enqueue)]
          : steps;
      const owner = ownerOf(after);
      if (owner === undefined) return steps;
      const key = objectKey(owner);
      const later = edge.again?.(owner, before, after);
      return [...steps, enqueue(key), ...(later === undefined ? [] : [enqueue({ key, after: later })])];
    }
  }
}

const enqueue = (one: EnqueueRequest): Step => ({ do: 'enqueue', request: one });

function isGoing({ metadata }: Readonly<KubeObject>): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isResync<T extends KubeObject>(change: Change<T>): boolean {
  if (change.do !== 'update') return false;
  const { resourceVersion } = change.before.metadata;
  return change.before === change.after || (resourceVersion !== undefined && resourceVersion === change.after.metadata.resourceVersion);
}
