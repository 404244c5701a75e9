import { unreachable } from '../../base/errors.ts';
import type { KubeObject } from '../api/object.ts';
import type { Change } from '../cache/change.ts';
import type { Handlers, Informer, Registration } from '../cache/contract.ts';
import type { Enqueue } from '../queue/work-queue.ts';
import type { Controller, Observer } from './controller.ts';
import { routeOwned, routePrimary, routeRead, type Step } from './route.ts';
import { runWorkers, type Reconcile, type WorkersOptions } from './workers.ts';

export type ControllerOptions = Omit<WorkersOptions, 'reconcile'>;

/**
 * Listens to the caches of a controller and reconciles its keys until the signal aborts. Nothing is reconciled before all of them have synced, so
 * that nobody decides on half of a list, nor while one of them applies a relist in pieces. Running the caches is the caller's; they may long be running.
 * @returns when the last reconcile has ended and no cache knows the controller any more; the queue is shut down then
 * @see runWorkers for failures and for what happens to reconciles under way
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
    log.info('controller runs', { controller: controller.name, workers, keys: queue.length });
    // Reconciles look at the caches first thing: no decision is made on the middle of a relist.
    const reconcile: Reconcile = async (key, own) => {
      if (informers.every(isSettled) || (await allSettled(informers, AbortSignal.any([own, signal]))))
        return controller.reconcile(key, own);
      return { requeueAfter: 0, why: 'the process ends while a list is being applied' };
    };
    await runWorkers({ ...options, reconcile }, signal);
    log.info('controller has stopped', { controller: controller.name });
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

function handlers<T extends KubeObject>(heard: (change: Change<T>) => void): Handlers<T> {
  return {
    added: (object) => heard({ do: 'add', object }),
    updated: (before, after) => heard({ do: 'update', before, after }),
    deleted: (last, unseen) => heard({ do: 'delete', last, unseen }),
  };
}

function execute(steps: readonly Step[], queue: Enqueue, controller: Pick<Controller<KubeObject>, 'gone'>, observer?: Observer): void {
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
        controller.gone?.(step.key);
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

/** @returns true once all are at one moment; false when the signal aborted first */
async function allSettled(informers: readonly Informer<KubeObject>[], signal: AbortSignal): Promise<boolean> {
  try {
    while (!informers.every(isSettled)) await Promise.all(informers.map((informer) => informer.whenSettled(signal)));
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
