import { rfc3339 } from '../../base/clock.ts';
import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { groupResource, type ServedKind, storageName } from '../kinds/kind.ts';
import { keptNamespaces } from '../kinds/namespaces.ts';
import { afterEviction, isSurplus } from '../kinds/pod-disruption-budgets.ts';
import { storageKey } from '../storage/storage.ts';
import { badRequest, conflict, forbidden, invalidValue, notFound, notSupported, StatusError } from '../errors.ts';
import { badOption, type Context, dryRunErrors } from './context.ts';
import type { KubeObject, ObjectMeta } from '../../kube/api/object.ts';
import { labelSelectorOf, matchesLabels } from '../../kube/api/selector.ts';
import { fieldAt, textAt } from '../kinds/metadata-rules.ts';

/** What happens to the dependents of a deleted object. */
export type Propagation = 'Foreground' | 'Background' | 'Orphan';

const propagations: readonly Propagation[] = ['Foreground', 'Background', 'Orphan'];

export interface DeleteOptions {
  dryRun: boolean;
  uid?: string;
  resourceVersion?: string;
  gracePeriodSeconds?: number;
  /** Undefined: the default of the kind. */
  propagation?: Propagation;
}

/** Reads `metav1.DeleteOptions` from a body. @throws StatusError 422 */
export function deleteOptions(options: Record<string, unknown>, query: URLSearchParams): DeleteOptions {
  const preconditions = isJsonObject(options['preconditions']) ? options['preconditions'] : {};
  const dryRun = Array.isArray(options['dryRun']) ? options['dryRun'] : query.getAll('dryRun');
  const requested = options['gracePeriodSeconds'] ?? query.get('gracePeriodSeconds');
  const grace = requested === null || requested === undefined ? undefined : Number(requested);
  if (grace !== undefined && !Number.isSafeInteger(grace)) throw badRequest('gracePeriodSeconds must be a whole number');
  const policy = options['propagationPolicy'] ?? query.get('propagationPolicy') ?? undefined;
  const orphan = options['orphanDependents'] ?? orphanOf(query);
  const known = propagations.find((one) => one === policy);
  const errors = dryRunErrors(dryRun);
  if (policy !== undefined && orphan !== undefined) {
    errors.push(invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'));
  } else if (policy !== undefined && known === undefined) {
    errors.push(notSupported('propagationPolicy', policy, [...propagations, 'nil']));
  }
  if (errors.length > 0) throw badOption('DeleteOptions', errors);
  const propagation = known ?? (orphan === undefined ? undefined : orphan === true ? 'Orphan' : 'Background');
  return {
    dryRun: dryRun.length > 0,
    ...(typeof preconditions['uid'] === 'string' ? { uid: preconditions['uid'] } : {}),
    ...(typeof preconditions['resourceVersion'] === 'string' ? { resourceVersion: preconditions['resourceVersion'] } : {}),
    ...(grace === undefined ? {} : { gracePeriodSeconds: Math.max(0, grace) }),
    ...(propagation === undefined ? {} : { propagation }),
  };
}

function orphanOf(query: URLSearchParams): boolean | undefined {
  const text = query.get('orphanDependents');
  return text === null ? undefined : text === 'true';
}

/** The finalizer of an owner whose dependents are orphaned first. */
export const ORPHAN = 'orphan';
/** The finalizer of an owner that is removed after its dependents. */
export const FOREGROUND = 'foregroundDeletion';

/** The finalizer of a definition whose objects are deleted before it. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

// As on 1.20: these kinds orphan their dependents by default.
const orphaning: ReadonlySet<string> = new Set(['/replicationcontrollers', 'batch/jobs']);
const uncollected: ReadonlySet<string> = new Set(['/events']);

/** The finalizers an object has once it is deleted: those it had, and the one that the garbage collector removes when it is done. */
export function finalizersOnDelete(kind: string, { metadata }: KubeObject, { propagation }: DeleteOptions): readonly string[] {
  const before = metadata.finalizers ?? [];
  if (uncollected.has(kind)) return before;
  const policy = propagation ?? (before.includes(ORPHAN) ? 'Orphan' : before.includes(FOREGROUND) ? 'Foreground' : defaultOf(kind));
  const isNew = metadata.deletionTimestamp === undefined && kind === 'apiextensions.k8s.io/customresourcedefinitions';
  const others = [...before.filter((one) => one !== ORPHAN && one !== FOREGROUND), ...(isNew ? [CLEANUP] : [])];
  if (policy === 'Background') return others;
  return [...others, policy === 'Orphan' ? ORPHAN : FOREGROUND];
}

function defaultOf(kind: string): Propagation {
  return orphaning.has(kind) ? 'Orphan' : 'Background';
}

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

const PODS = '/pods';
const BUDGETS = 'policy/poddisruptionbudgets';

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
    const spent = afterEviction(budget, at.name, rfc3339(context.clock.now()), context.registry.release);
    if (!dryRun) context.storage.put(BUDGETS, storageKey(at.namespace, budget.metadata.name ?? ''), spent);
  }
  deleteObject(context, served, at, { ...options, dryRun });
}

/** The pod is not running, or already terminating. */
function needsNoBudget(pod: KubeObject): boolean {
  return pod.metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(textAt(pod, 'status', 'phase'));
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
