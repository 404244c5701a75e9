import { isJsonObject } from '../../kube/api/json.ts';
import { invalidValue, notSupported, notSupportedShown, badRequest, invalid } from '../errors.ts';
import type { FieldError } from '../errors.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** What happens to the dependents of a deleted object. */
export type Propagation = 'Foreground' | 'Background' | 'Orphan';

const propagations: readonly Propagation[] = ['Foreground', 'Background', 'Orphan'];

export interface DeleteOptions {
  dryRun: boolean;
  uid?: string;
  resourceVersion?: string;
  gracePeriodSeconds?: number;
  /** Undefined where the request leaves it to the kind. */
  propagation?: Propagation;
}

/** Invalid list options. */
export const badListOption = (error: FieldError): Error => badOption('ListOptions', [error]);

function badOption(kind: string, errors: readonly FieldError[]): Error {
  return invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

/** Whether a create, update or patch is a dry run. @throws StatusError 422 for anything but `All` */
export function dryRunOf(query: URLSearchParams, kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'): boolean {
  const asked = query.getAll('dryRun');
  const errors = dryRunErrors(asked);
  if (errors.length > 0) throw badOption(kind, errors);
  return asked.length > 0;
}

function dryRunErrors(asked: readonly unknown[]): FieldError[] {
  if (asked.every((one) => one === 'All')) return [];
  return [notSupportedShown('dryRun', `[]string{${asked.map((one) => JSON.stringify(one)).join(', ')}}`, ['All'])];
}

/** Reads `metav1.DeleteOptions` from a body. @throws StatusError 422 */
export function deleteOptions(options: Record<string, unknown>, query: URLSearchParams): DeleteOptions {
  const preconditions = isJsonObject(options['preconditions']) ? options['preconditions'] : {};
  const dryRun = Array.isArray(options['dryRun']) ? options['dryRun'] : query.getAll('dryRun');
  const asked = options['gracePeriodSeconds'] ?? query.get('gracePeriodSeconds');
  const grace = asked === null || asked === undefined ? undefined : Number(asked);
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
  const way = propagation ?? (before.includes(ORPHAN) ? 'Orphan' : before.includes(FOREGROUND) ? 'Foreground' : defaultOf(kind));
  const isNew = metadata.deletionTimestamp === undefined && kind === 'apiextensions.k8s.io/customresourcedefinitions';
  const others = [...before.filter((one) => one !== ORPHAN && one !== FOREGROUND), ...(isNew ? [CLEANUP] : [])];
  if (way === 'Background') return others;
  return [...others, way === 'Orphan' ? ORPHAN : FOREGROUND];
}

function defaultOf(kind: string): Propagation {
  return orphaning.has(kind) ? 'Orphan' : 'Background';
}
