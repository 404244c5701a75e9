import { unreachable } from '../../base/errors.ts';
import { jsonEqual } from '../api/json.ts';
import type { KubeObject, Resource } from '../api/object.ts';
import type { Change } from '../cache/change.ts';
import { type Handlers, type Informer, type Key, type Lister, objectKey, type Registration } from '../cache/contract.ts';
import type { Enqueue } from '../queue/work-queue.ts';
import type { Controller, EnqueueRequest, Observer, Owns, Reads } from './controller.ts';
import { controllerOf, haveSameController, resolveRef } from './owners.ts';
import { type Reconcile, runWorkers, type WorkersOptions } from './workers.ts';

export type ControllerOptions = Omit<WorkersOptions, 'reconcile'>;

/**
 * Adds handlers to the caches of a controller and reconciles its keys until the signal aborts. No reconcile starts before all caches have synced, nor while
 * one of them applies a relist in pieces, so that no decision is based on half of a list. The caller runs the caches; they may be running already.
 * @returns when the last reconcile has ended and the handlers are removed from all caches; the queue is shut down then
 * @see runWorkers for failures and for reconciles that are running at that time
 */
export async function runController<T extends KubeObject>(
  controller: Controller<T>,
  options: ControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { queue, workers, log } = options;
  const registrations = listen(controller, queue);
  try {
    const informers = [controller.primary, ...(controller.owns ?? []).map(({ of }) => of), ...(controller.reads ?? []).map(({ of }) => of)];
    if (!(await allSynced(informers, signal))) return;
    log.info('controller started', { controller: controller.name, workers, keys: queue.length });
    // Checked right before a reconcile reads the caches: no decision is based on half of a relist.
    const reconcile: Reconcile = async (key, own) => {
      if (informers.every(isSettled) || (await allSettled(informers, AbortSignal.any([own, signal]))))
        return controller.reconcile(key, own);
      return { requeueAfter: 0, why: 'the process ends while a list is being applied' };
    };
    await runWorkers({ ...options, reconcile }, signal);
    log.info('controller stopped', { controller: controller.name });
  } finally {
    queue.shutDown();
    for (const registration of registrations) registration.remove();
  }
}

function listen<T extends KubeObject>(controller: Controller<T>, queue: Enqueue): Registration[] {
  const { name, primary, owns = [], reads = [] } = controller;
  const owners = { resource: primary.resource, lister: primary };
  return [
    primary.addHandlers(
      name,
      handlers((change) => execute(routePrimary(change), queue, controller)),
    ),
    ...owns.map((edge) =>
      edge.of.addHandlers(
        name,
        handlers((change) => execute(routeOwned(change, edge, owners), queue, controller, edge.expectations)),
      ),
    ),
    ...reads.map((edge) =>
      edge.of.addHandlers(
        name,
        handlers((change) => execute(routeRead(change, edge, primary), queue, controller)),
      ),
    ),
  ];
}

function handlers<T extends KubeObject>(onChange: (change: Change<T>) => void): Handlers<T> {
  return {
    added: (object) => onChange({ do: 'add', object }),
    updated: (before, after) => onChange({ do: 'update', before, after }),
    deleted: (last, unseen) => onChange({ do: 'delete', last, unseen }),
  };
}

function execute(steps: readonly Step[], queue: Enqueue, controller: Pick<Controller<KubeObject>, 'onDeleted'>, observer?: Observer): void {
  for (const step of steps)
    switch (step.do) {
      case 'enqueue': {
        const { request } = step;
        if (typeof request === 'string') queue.add(request);
        else if ('after' in request) queue.addAfter(request.key, request.after);
        else queue.addRateLimited(request.key);
        break;
      }
      case 'forget':
        controller.onDeleted?.(step.key, step.uid);
        break;
      case 'creationSeen':
        observer?.creationSeen(step.key, step.uid);
        break;
      case 'deletionSeen':
        observer?.deletionSeen(step.key, step.uid);
        break;
      default:
        unreachable(step);
    }
}

/** @returns false when the signal aborted first */
async function allSynced(informers: readonly Informer<KubeObject>[], signal: AbortSignal): Promise<boolean> {
  try {
    await Promise.all(informers.map((informer) => informer.whenSynced(signal)));
    return !signal.aborted;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

const isSettled = ({ settled }: Informer<KubeObject>): boolean => settled;

/** @returns true once all are settled at the same moment; false when the signal aborted first */
async function allSettled(informers: readonly Informer<KubeObject>[], signal: AbortSignal): Promise<boolean> {
  try {
    while (!informers.every(isSettled)) await Promise.all(informers.map((informer) => informer.whenSettled(signal)));
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** The steps that follow from a change, in this order. */
export type Step = { do: 'enqueue'; request: EnqueueRequest } | { do: 'forget' | 'creationSeen' | 'deletionSeen'; key: Key; uid: string };

/** A change of a primary object. */
export function routePrimary<T extends KubeObject>(change: Change<T>): Step[] {
  switch (change.do) {
    case 'add':
      return [enqueue(objectKey(change.object))];
    case 'update':
      return [enqueue(objectKey(change.after))];
    case 'delete': {
      const key = objectKey(change.last);
      return [{ do: 'forget', key, uid: change.last.metadata.uid ?? '' }, enqueue(key)];
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
 * A change of an object that may belong to an owner.
 *
 * | change | which owners it enqueues |
 * | --- | --- |
 * | added, already terminating (first seen after a restart) | as deleted |
 * | added, with a controller | the owner; it was created |
 * | added, orphan | all that match; none of them awaits it as its own any more |
 * | updated, nothing new (resync) | none |
 * | updated, the controller changed | the previous one, for which it counts as deleted; then the rows below |
 * | updated, terminating | as deleted |
 * | updated, with a controller | the owner |
 * | updated, orphan, labels or controller changed | all that match |
 * | updated, orphan, else | none |
 * | deleted, with a controller | the owner; it was deleted |
 * | deleted, last known as an orphan | all that match: one may have adopted it unseen, or await its adoption; it was deleted |
 *
 * A released object counts as deleted: an owner that had just created it, or was about to delete it, would otherwise wait until its expectations expire.
 *
 * An owner that is not in the cache under that kind, name and UID is ignored: its own event enqueues it when it appears.
 */
export function routeOwned<T extends KubeObject, O extends KubeObject>(
  change: Change<O>,
  edge: Pick<Owns<T, O>, 'matching'>,
  { resource, lister }: { resource: Resource; lister: Lister<T> },
): Step[] {
  const ownerOf = (object: Readonly<O>): Readonly<T> | undefined => {
    const ref = controllerOf(object);
    // A cluster-scoped owner may own namespaced objects.
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
      return owner === undefined ? steps : [...steps, enqueue(objectKey(owner))];
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
