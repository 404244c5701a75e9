import { rfc3339 } from '../../base/clock.ts';
import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { groupResource, type ServedKind, storageName } from '../kinds/kind.ts';
import { keptNamespaces } from '../kinds/namespaces.ts';
import { storageKey } from '../storage/storage.ts';
import { badRequest, conflict, forbidden, notFound, StatusError, TODAY } from '../errors.ts';
import { type Context, type DeleteOptions, deleteOptions, finalizersOnDelete } from './context.ts';
import { describeError } from '../../base/errors.ts';
import type { KubeObject, ObjectMeta } from '../../kube/api/object.ts';
import type { Log } from '../../base/log.ts';
import type { Change } from '../storage/watch-log.ts';
import { labelSelectorOf, matchesLabels } from '../../kube/api/selector.ts';
import { fieldAt, listAt, textAt } from '../kinds/metadata-rules.ts';

/** Removes the object, or sets its deletionTimestamp if it has finalizers or a grace period. @returns its last state, and whether it was removed */
export function deleteObject(
  context: Context,
  served: ServedKind,
  at: { namespace: string; name: string },
  options: DeleteOptions,
): { object: KubeObject; removed: boolean } {
  const { kind } = served;
  const { storage } = context;
  const name = storageName(kind);
  const key = storageKey(at.namespace, at.name);
  const old = storage.get(name, key);
  if (old === undefined) throw notFound(groupResource(served), at.name);
  const isNamespace = kind.resource === 'namespaces';
  if (isNamespace && keptNamespaces.has(at.name)) throw forbidden(groupResource(served), at.name, 'this namespace may not be deleted');
  checkPreconditions(served, old, options);
  const grace = kind.gracePeriod?.(old, options.gracePeriodSeconds) ?? 0;
  const finalizers = finalizersOnDelete(name, old, options);
  const waits = finalizers.length > 0 || isNamespace;
  // An object of a kind with grace periods gets a deletionTimestamp even if it is removed at once.
  const marks = waits || kind.gracePeriod !== undefined;
  const left = marks ? terminating(context, isNamespace, old, grace, finalizers) : old;
  const removed = !waits && (!marks || left.metadata.deletionGracePeriodSeconds === 0);
  if (options.dryRun) return { object: left, removed };
  const object = jsonEqual(left, old) ? old : storage.put(name, key, left);
  if (removed) storage.remove(name, key);
  if (isNamespace) sweepNamespace(context, at.name);
  else if (removed) sweepNamespace(context, object.metadata.namespace);
  return { object, removed };
}

function terminating(context: Context, isNamespace: boolean, old: KubeObject, grace: number, finalizers: readonly string[]): KubeObject {
  const { finalizers: _old, ...rest } = old.metadata;
  const held = finalizers.length === 0 ? {} : { finalizers: [...finalizers] };
  const before = old.metadata.deletionGracePeriodSeconds;
  const since = old.metadata.deletionTimestamp;
  const now = context.clock.now();
  if (isNamespace) {
    const metadata = { ...rest, ...held, deletionTimestamp: since ?? rfc3339(now) };
    return { ...old, metadata, status: { ...(isJsonObject(old['status']) ? old['status'] : {}), phase: 'Terminating' } };
  }
  // A second delete can only shorten the grace period, which starts with the first delete.
  if (since !== undefined && (before === undefined || grace >= before)) return { ...old, metadata: { ...rest, ...held } };
  const start = since === undefined || before === undefined ? now : Date.parse(since) - before * 1000;
  const counted = since === undefined ? nextGeneration(rest) : {};
  const metadata = { ...rest, ...held, ...counted, deletionTimestamp: rfc3339(start + grace * 1000), deletionGracePeriodSeconds: grace };
  return { ...old, metadata };
}

/** The first delete increments the generation, if the object has one. */
const nextGeneration = ({ generation = 0 }: ObjectMeta): { generation?: number } => (generation > 0 ? { generation: generation + 1 } : {});

function checkPreconditions({ kind, at }: ServedKind, { metadata }: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  // In this message the real server names the kind instead of the resource.
  const of = { group: at.group, resource: kind.kind };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ''})`;
    throw conflict(of, metadata.name ?? '', `${why}. The object might have been deleted and then recreated`);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ''})`;
    throw conflict(of, metadata.name ?? '', `${why}. The object might have been modified`);
  }
}

/** Deletes the content of a terminating namespace, and the namespace once it is empty and has no finalizers. */
export function sweepNamespace(context: Context, name: string | undefined): void {
  const namespace = name === undefined ? undefined : context.storage.get('/namespaces', name);
  if (name === undefined || namespace?.metadata.deletionTimestamp === undefined) return;
  let left = 0;
  for (const kind of context.registry.kinds) {
    if (!kind.namespaced) continue;
    for (const object of context.storage.list(storageName(kind), name).objects) {
      const key = storageKey(name, object.metadata.name ?? '');
      if (!object.metadata.finalizers?.length) context.storage.remove(storageName(kind), key);
      else {
        left += 1;
        if (object.metadata.deletionTimestamp === undefined)
          context.storage.put(storageName(kind), key, withDeletionTimestamp(object, context));
      }
    }
  }
  if (left > 0 || namespace.metadata.finalizers?.length) return;
  context.storage.put('/namespaces', name, {
    ...namespace,
    spec: { ...(isJsonObject(namespace['spec']) ? namespace['spec'] : {}), finalizers: [] },
  });
  context.storage.remove('/namespaces', name);
}

function withDeletionTimestamp(object: KubeObject, context: Context): KubeObject {
  const deletionTimestamp = rfc3339(context.clock.now());
  return {
    ...object,
    metadata: { ...object.metadata, ...nextGeneration(object.metadata), deletionTimestamp, deletionGracePeriodSeconds: 0 },
  };
}

/**
 * Simulates kubelets for deleted pods: removes a terminating pod after `ms`, or in a later turn of the event loop for 0. Finalizers still keep the pod.
 */
export function finishPods(context: Context, ms: number, log: Log, signal: AbortSignal): void {
  const ending = new Set<string>();
  const finish = (change: Change): void => {
    const { uid = '', name = '', namespace = '' } = change.object.metadata;
    ending.delete(uid);
    const live = context.storage.get('/pods', change.key);
    const served = context.registry.stored('/pods');
    if (served === undefined || live?.metadata.uid !== uid) return;
    try {
      deleteObject(context, served, { namespace, name }, { dryRun: false, gracePeriodSeconds: 0, uid });
    } catch (error) {
      log.error('failed to finish deleted pod', { pod: `${namespace}/${name}`, error: describeError(error) });
    }
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
    // Rejects only when the server stops.
    context.clock.sleep(ms, signal).then(
      () => finish(change),
      () => {},
    );
  });
}

const PODS = '/pods';
const BUDGETS = 'policy/poddisruptionbudgets';

/** Maximum number of entries of status.disruptedPods (evicted pods whose deletion the disruption controller has not yet seen), as on a real server. */
const MAX_DISRUPTED = 2000;

/** Whether this is the eviction subresource of pods. */
export function isEviction({ kind }: ServedKind, subresource: string): boolean {
  return subresource === 'eviction' && storageName(kind) === PODS;
}

/**
 * Deletes a pod if its disruption budget allows it, and records the disruption in the budget.
 * @throws StatusError 404, 409 for preconditions, 429 if the budget does not allow it, 500 for several budgets
 */
export function evict(
  context: Context,
  served: ServedKind,
  at: { namespace: string; name: string },
  body: Record<string, unknown>,
  query: URLSearchParams,
): void {
  const version = textAt(body, 'apiVersion');
  if (!['', 'policy/v1beta1', 'policy/v1'].includes(version) || !['', 'Eviction'].includes(textAt(body, 'kind'))) {
    throw badRequest(`no kind ${JSON.stringify(body['kind'])} is registered for version ${JSON.stringify(version)}`);
  }
  const named = textAt(body, 'metadata', 'name');
  if (named !== '' && named !== at.name) throw badRequest('name in URL does not match name in Eviction object');
  const pod = context.storage.get(PODS, storageKey(at.namespace, at.name));
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, at.name);
  const given = isJsonObject(body['deleteOptions']) ? body['deleteOptions'] : {};
  const options = deleteOptions(given, query);
  const dryRun = options.dryRun || query.getAll('dryRun').length > 0;
  // Preconditions are checked before the budget.
  deleteObject(context, served, at, { ...options, dryRun: true });
  const budget = needsNoBudget(pod) ? undefined : budgetOf(context, pod);
  if (budget !== undefined && !isSurplus(pod, budget)) {
    const spent = decremented(budget, at.name, rfc3339(context.clock.now()), context.registry.release);
    if (!dryRun) context.storage.put(BUDGETS, storageKey(at.namespace, budget.metadata.name ?? ''), spent);
  }
  deleteObject(context, served, at, { ...options, dryRun });
}

/** The pod is not running, or already terminating. */
function needsNoBudget(pod: KubeObject): boolean {
  return pod.metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(textAt(pod, 'status', 'phase'));
}

/** The pod is not ready, and the budget has enough healthy pods without it. */
function isSurplus(pod: KubeObject, budget: KubeObject): boolean {
  const isReady = listAt(pod, 'status', 'conditions').some((one) => textAt(one, 'type') === 'Ready' && textAt(one, 'status') === 'True');
  const desired = numberAt(budget, 'desiredHealthy');
  return !isReady && desired > 0 && numberAt(budget, 'currentHealthy') >= desired;
}

function budgetOf(context: Context, pod: KubeObject): KubeObject | undefined {
  const selects = (budget: KubeObject): boolean => {
    const selector = fieldAt(budget, 'spec', 'selector');
    if (!isJsonObject(selector) || Object.keys(selector).length === 0) return false;
    return matchesLabels(labelSelectorOf(selector), pod.metadata.labels);
  };
  const found = context.storage.list(BUDGETS, pod.metadata.namespace).objects.filter(selects);
  if (found.length <= 1) return found[0];
  // The real server gives no reason either.
  throw new StatusError(500, '', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
}

function decremented(budget: KubeObject, pod: string, now: string, release: number): KubeObject {
  const { name = '', generation = 0 } = budget.metadata;
  const allowed = numberAt(budget, 'disruptionsAllowed');
  const status = isJsonObject(budget['status']) ? budget['status'] : {};
  const disrupted = isJsonObject(status['disruptedPods']) ? status['disruptedPods'] : {};
  if (numberAt(budget, 'observedGeneration') < generation) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`);
  }
  if (Object.keys(disrupted).length > MAX_DISRUPTED)
    throw refused('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (allowed <= 0) {
    const [desired, healthy] = [numberAt(budget, 'desiredHealthy'), numberAt(budget, 'currentHealthy')];
    const isShort = healthy <= desired || release < TODAY;
    const why = isShort ? `needs ${desired} healthy pods and has ${healthy} currently` : 'does not allow evicting pods currently';
    throw refused(`The disruption budget ${name} ${why}`);
  }
  return { ...budget, status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...disrupted, [pod]: now } } };
}

function refused(why: string): StatusError {
  return new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: why }],
  });
}

function numberAt(budget: KubeObject, field: string): number {
  const found = fieldAt(budget, 'status', field);
  return typeof found === 'number' ? found : 0;
}
