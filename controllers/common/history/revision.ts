import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../kube/api/json.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import { controllerRef } from '../../../kube/controller/owners.ts';
import { excessOf, MAX_DEPTH, MAX_VALUES } from '../set-size.ts';
import { canonical, type HistoryFacts, type HistoryRules, type Revision } from './contract.ts';

/*
 * The keys of these maps are objects that never change: templates and data from a cache. A set is reconciled again and again with the same dozen
 * revisions, so each is hashed once and not at every reconcile.
 */
const dataOf = new WeakMap<object, JsonObject>();
const digests = new WeakMap<object, string>();

/**
 * The data that a revision stores: a strategic merge patch that restores the template. Pure.
 * @param template - never changed afterwards
 */
export function revisionData(template: Readonly<JsonObject>): JsonObject {
  let data = dataOf.get(template);
  if (data === undefined) {
    data = { spec: { template: { ...template, $patch: 'replace' } } };
    dataOf.set(template, data);
  }
  return data;
}

/**
 * Whether both hold the same template, whichever program wrote them. The order of fields does not count, and null equals absent: API servers before 1.34
 * write `creationTimestamp: null` into every template, later ones do not. Pure.
 * @param left - never changed afterwards. @param right - never changed afterwards
 */
export function sameData(left: unknown, right: unknown): boolean {
  return left === right || digest(left) === digest(right);
}

/**
 * The revision to create for the template.
 * @param facts - the template is never changed afterwards
 * @param number - its place in the history
 * @throws {TypeError} when the owner has no name or UID
 */
export function newRevision(
  owner: Readonly<KubeObject>,
  ownerResource: Resource,
  { template, collisionCount }: Pick<HistoryFacts, 'template' | 'collisionCount'>,
  number: number,
  rules: Pick<HistoryRules, 'hashLabel' | 'hash'>,
): Revision {
  const { namespace, annotations } = owner.metadata;
  const data = revisionData(template);
  const hash = hashOf(data, collisionCount, rules.hash);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: revisionName(owner, hash),
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...labelsOf(template), [rules.hashLabel]: hash },
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ownerReferences: [controllerRef(owner, ownerResource)],
    },
    data,
    revision: number,
  };
}

interface Hashed {
  by: HistoryRules['hash'];
  collisionCount: number | undefined;
  hash: string;
}
const hashes = new WeakMap<object, Hashed>();

/** Memoized: until the cache shows the new revision, each reconcile makes it again. */
function hashOf(data: JsonObject, collisionCount: number | undefined, by: HistoryRules['hash']): string {
  const known = hashes.get(data);
  if (known !== undefined && known.by === by && known.collisionCount === collisionCount) return known.hash;
  const hash = by(data, collisionCount);
  hashes.set(data, { by, collisionCount, hash });
  return hash;
}

/** Pure. */
export function revisionName({ metadata: { name = '' } }: Readonly<KubeObject>, hash: string): string {
  // A prefix that ends with a dot would make an invalid name.
  return `${name.slice(0, MAX_PREFIX_LENGTH).replace(/[-.]+$/, '')}-${hash}`;
}

/**
 * The template that the revision stores. A revision stores nothing else, so with this template the owner is as it was at that revision. Undefined when
 * the data is not such a patch. Pure.
 */
export function templateOf({ data }: Pick<Readonly<Revision>, 'data'>): JsonObject | undefined {
  if (!isJsonObject(data) || !isJsonObject(data['spec']) || !isJsonObject(data['spec']['template'])) return undefined;
  const { $patch, ...template } = data['spec']['template'];
  return $patch === 'replace' ? template : undefined;
}

/** Max characters of an owner's name in its revisions' names, as upstream (history.ControllerRevisionName): with the hash the name is valid. */
const MAX_PREFIX_LENGTH = 223;

function labelsOf(template: Readonly<JsonObject>): Record<string, string> {
  const { metadata } = template;
  const labels = isJsonObject(metadata) ? metadata['labels'] : undefined;
  if (!isJsonObject(labels)) return {};
  return Object.fromEntries(Object.entries(labels).filter((label): label is [string, string] => typeof label[1] === 'string'));
}

/**
 * Computes the digest of a revision's data, unless it is known.
 * @returns the number of characters hashed, 0 when there was nothing to do
 */
export function readData(data: unknown): number {
  if (typeof data !== 'object' || data === null || digests.has(data)) return 0;
  const { digest: made, length } = digestOf(data);
  digests.set(data, made);
  return length;
}

let strange = 0;

/** A digest and not the canonical text, because each revision has its own text and templates may be long. */
function digest(data: unknown): string {
  const known = typeof data === 'object' && data !== null ? digests.get(data) : undefined;
  if (known !== undefined) return known;
  const { digest: made } = digestOf(data);
  if (typeof data === 'object' && data !== null) digests.set(data, made);
  return made;
}

function digestOf(data: unknown): { digest: string; length: number } {
  // Larger than any template that is synced, with a margin for the patch around it and for nulls: equal to no other.
  if (excessOf(data, { depth: MAX_DEPTH + 10, values: 2 * MAX_VALUES }) !== undefined) return { digest: `strange ${++strange}`, length: 1 };
  const text = canonical(data);
  return { digest: createHash('sha256').update(text).digest('base64'), length: text.length };
}
