import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Context } from '../handlers/context.ts';
import { deleteObject } from '../handlers/delete.ts';
import type { Change } from '../storage/watch-log.ts';

/**
 * Finishes deleted pods in the place of their kubelets: takes a pod that was marked away again after `ms`, or in a later turn of the event loop for 0.
 * A finalizer holds it even then.
 */
export function finishPods(context: Context, ms: number, log: Log, signal: AbortSignal): void {
  const ending = new Set<string>();
  const finish = (change: Change): void => {
    const { uid = '', name = '', namespace = '' } = change.object.metadata;
    ending.delete(uid);
    const live = context.storage.get('/pods', change.key);
    const served = context.registry.stored('/pods');
    if (served === undefined || live?.metadata.uid !== uid) return;
    deleteObject(context, served, { namespace, name }, { dryRun: false, gracePeriodSeconds: 0, uid });
  };
  context.storage.onChange((kind, change) => {
    const { uid = '', deletionTimestamp, deletionGracePeriodSeconds = 0 } = change.object.metadata;
    if (kind !== '/pods' || change.type === 'DELETED' || deletionTimestamp === undefined) return;
    if (deletionGracePeriodSeconds === 0 || ending.has(uid)) return;
    ending.add(uid);
    if (ms === 0) {
      setImmediate(() => finish(change));
      return;
    }
    context.clock.sleep(ms, signal).then(
      () => finish(change),
      (error: unknown) => {
        if (!signal.aborted) log.error('a pod was not finished', { error: describeError(error) });
      },
    );
  });
}
