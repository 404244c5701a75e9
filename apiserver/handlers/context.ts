import { type Clock, rfc3339 } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Registry } from '../kinds/registry.ts';
import type { RuleContext, ServedKind } from '../kinds/kind.ts';
import type { Storage } from '../storage/storage.ts';
import { badRequest, type FieldError, invalid, notSupportedShown, resourceVersionTooLarge } from '../errors.ts';
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector, SelectorError } from '../../kube/api/selector.ts';
import type { ApiRequest } from '../http/message.ts';
import type { KubeObject } from '../../kube/api/object.ts';

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

/** Invalid list options. */
export const badListOption = (error: FieldError): Error => badOption('ListOptions', [error]);

/** The error for a wrong member of CreateOptions, DeleteOptions and the like. */
export function badOption(kind: string, errors: readonly FieldError[]): Error {
  return invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

/** Whether a create, update or patch is a dry run. @throws StatusError 422 for anything but `All` */
export function dryRunOf(query: URLSearchParams, kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'): boolean {
  const requested = query.getAll('dryRun');
  const errors = dryRunErrors(requested);
  if (errors.length > 0) throw badOption(kind, errors);
  return requested.length > 0;
}

/** @param requested - the values of `dryRun`, as sent */
export function dryRunErrors(requested: readonly unknown[]): FieldError[] {
  if (requested.every((one) => one === 'All')) return [];
  return [notSupportedShown('dryRun', `[]string{${requested.map((one) => JSON.stringify(one)).join(', ')}}`, ['All'])];
}
