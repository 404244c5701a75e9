import { type Clock, rfc3339 } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Registry } from '../kinds/registry.ts';
import type { RuleContext, ServedKind } from '../kinds/kind.ts';
import type { Storage } from '../storage/storage.ts';
import { badRequest, type FieldError, invalid, invalidValue, notSupported, notSupportedShown, resourceVersionTooLarge } from '../errors.ts';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector, SelectorError } from '../../kube/api/selector.ts';
import type { ApiRequest } from '../http/message.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { isJsonObject } from '../../kube/api/json.ts';

/** Dependencies of all handlers. */
export interface Context {
  storage: Storage;
  registry: Registry;
  clock: Clock;
  random: Random;
  dynamicKubeletConfig: boolean;
  /** Interval of bookmarks for a watch that requests them, in ms. */
  bookmarkMs: number;
}

export function rules(context: Context, subresource: string): RuleContext {
  const { clock, registry, storage, dynamicKubeletConfig } = context;
  return { now: rfc3339(clock.now()), dynamicKubeletConfig, subresource, release: registry.release, stored: storage };
}

/** A version 4 UUID from the server's random source. */
export function newUid(random: Random): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16));
  digits[12] = 4;
  digits[16] = ((digits[16] ?? 0) & 3) | 8;
  const hex = digits.map((digit) => digit.toString(16)).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

// As on a real server: no vowels and no ambiguous characters.
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** `base` and five random characters, at most 63 in all. */
export function generateName(base: string, random: Random): string {
  const suffix = Array.from({ length: 5 }, () => SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)] ?? 'x').join('');
  return base.slice(0, 63 - suffix.length) + suffix;
}

/** The resourceVersion of a query. @returns undefined if absent @throws StatusError 400 if it is not a number */
export function versionOf(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`invalid resource version ${JSON.stringify(text)}: it must be a whole number`);
  return Number(text);
}

/** A number of the query, 0 if absent. @throws StatusError 400 */
export function numberOf(query: URLSearchParams, name: string): number {
  const text = query.get(name);
  if (text === null || text === '') return 0;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`invalid value ${JSON.stringify(text)} of ${name}: it must be a whole number`);
  return Number(text);
}

/** @throws StatusError 504 for a version that the server has not reached */
export function checkReached(version: number | undefined, current: number): void {
  if (version !== undefined && version > current) throw resourceVersionTooLarge(version, current);
}

export type ReadRequest = Pick<ApiRequest, 'query' | 'staleBy'>;

/** Whether a real server could respond from a lagging cache: the request accepts any version, or any version not older than one. */
export function mayBeStale(query: URLSearchParams): boolean {
  return (
    (query.get('resourceVersion') ?? '') !== '' && query.get('resourceVersionMatch') !== 'Exact' && (query.get('continue') ?? '') === ''
  );
}

/** The version from which a lagging replica would respond; undefined: the newest. Never older than the requested version or the oldest known one. */
export function staleVersion(storage: Storage, kind: string, { query, staleBy = 0 }: ReadRequest): number | undefined {
  if (staleBy === 0 || !mayBeStale(query)) return undefined;
  return Math.max(versionOf(query) ?? 0, storage.version - staleBy, storage.log(kind).forgotten);
}

/** The objects that a request selects. */
export interface Selection {
  matches: (object: KubeObject) => boolean;
  /** The only name that can match, for `metadata.name=NAME`. */
  name: string | undefined;
  /** Every object matches. */
  all: boolean;
}

/** Reads both selectors of a query. @throws StatusError 400 for an invalid selector or an unsupported field */
export function selection(served: ServedKind, query: URLSearchParams): Selection {
  try {
    const labels = parseLabelSelector(query.get('labelSelector') ?? '');
    const fields = parseFieldSelector(query.get('fieldSelector') ?? '').map((requirement) => ({
      ...requirement,
      field: served.at.selectable?.[requirement.field] ?? requirement.field,
    }));
    const readers = new Map(Object.entries(served.kind.selectable ?? {}));
    readers.set('metadata.name', (object) => object.metadata.name ?? '');
    if (served.kind.namespaced) readers.set('metadata.namespace', (object) => object.metadata.namespace ?? '');
    for (const { field } of fields) {
      if (!readers.has(field)) {
        // Kinds with additional selectable fields have another message than those with metadata.name and metadata.namespace only.
        const plain = `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
        throw badRequest(served.kind.selectable === undefined ? plain : `field label not supported: ${field}`);
      }
    }
    const name = fields.find((requirement) => requirement.field === 'metadata.name' && requirement.operator === '=')?.value;
    return {
      name,
      all: labels.length === 0 && fields.length === 0,
      matches: (object) => matchesLabels(labels, object.metadata.labels) && matchesFields(fields, (field) => readers.get(field)?.(object)),
    };
  } catch (error) {
    if (error instanceof SelectorError) throw Object.assign(badRequest(error.message), { cause: error });
    throw error;
  }
}

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

/** Invalid list options. */
export const badListOption = (error: FieldError): Error => badOption('ListOptions', [error]);

function badOption(kind: string, errors: readonly FieldError[]): Error {
  return invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

/** Whether a create, update or patch is a dry run. @throws StatusError 422 for anything but `All` */
export function dryRunOf(query: URLSearchParams, kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'): boolean {
  const requested = query.getAll('dryRun');
  const errors = dryRunErrors(requested);
  if (errors.length > 0) throw badOption(kind, errors);
  return requested.length > 0;
}

function dryRunErrors(requested: readonly unknown[]): FieldError[] {
  if (requested.every((one) => one === 'All')) return [];
  return [notSupportedShown('dryRun', `[]string{${requested.map((one) => JSON.stringify(one)).join(', ')}}`, ['All'])];
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
