import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../kube/api/json.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import { controllerRef } from '../../../kube/controller/owners.ts';
import { excessOf, MAX_DEPTH, MAX_VALUES } from '../set-size.ts';
import { canonical, daemonSetHistory, type HistoryFacts, type HistoryRules, type Revision } from './contract.ts';

/*
 * What is remembered here belongs to objects that never change: templates and data as a cache has them. A set is reconciled again and again with
 * the same dozen revisions, so each is read once and not at every turn.
 */
const dataOf = new WeakMap<object, JsonObject>();
const digests = new WeakMap<object, string>();

/**
 * What a revision stores: a strategic merge patch that puts the template back. Pure.
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
 * Whether both are of the same template, by whichever program they were written. Order of fields does not count, and null is as good as absent: API servers
 * before 1.34 write `creationTimestamp: null` into every template, later ones do not. Pure.
 * @param left - never changed afterwards. @param right - never changed afterwards
 */
export function sameData(left: unknown, right: unknown): boolean {
  return left === right || digest(left) === digest(right);
}

/**
 * The revision of the facts' template, as it is to be created.
 * @param facts - the template is never changed afterwards
 * @param number - its place in the history
 * @throws {TypeError} when the owner is in no API server yet
 */
export function newRevision(
  owner: Readonly<KubeObject>,
  ownerResource: Resource,
  { template, collisionCount }: Pick<HistoryFacts, 'template' | 'collisionCount'>,
  number: number,
  rules: Pick<HistoryRules, 'hashLabel' | 'hash'> = daemonSetHistory,
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

/** Until the cache shows the new revision it is made again at each look. */
function hashOf(data: JsonObject, collisionCount: number | undefined, by: HistoryRules['hash']): string {
  const known = hashes.get(data);
  if (known !== undefined && known.by === by && known.collisionCount === collisionCount) return known.hash;
  const hash = by(data, collisionCount);
  hashes.set(data, { by, collisionCount, hash });
  return hash;
}

/** Pure. */
export function revisionName({ metadata: { name = '' } }: Readonly<KubeObject>, hash: string): string {
  // Cut behind a dot it would be no name.
  return `${name.slice(0, MAX_PREFIX_LENGTH).replace(/[-.]+$/, '')}-${hash}`;
}

/**
 * The template that the revision keeps, as it is there: with it the owner is as it was at that revision, for nothing else of it is kept. Undefined when
 * what is kept is something else. Pure.
 */
export function templateOf({ data }: Pick<Readonly<Revision>, 'data'>): JsonObject | undefined {
  if (!isJsonObject(data) || !isJsonObject(data['spec']) || !isJsonObject(data['spec']['template'])) return undefined;
  const { $patch, ...template } = data['spec']['template'];
  return $patch === 'replace' ? template : undefined;
}

/** Characters of an owner's name in its revisions' names, as upstream (history.ControllerRevisionName): with the hash they are a valid name. */
const MAX_PREFIX_LENGTH = 223;

function labelsOf(template: Readonly<JsonObject>): Record<string, string> {
  const { metadata } = template;
  const labels = isJsonObject(metadata) ? metadata['labels'] : undefined;
  if (!isJsonObject(labels)) return {};
  return Object.fromEntries(Object.entries(labels).filter((label): label is [string, string] => typeof label[1] === 'string'));
}

/**
 * Reads the data of a revision, unless that has been done.
 * @returns how many characters it took, 0 when there was nothing to do
 */
export function readData(data: unknown): number {
  if (typeof data !== 'object' || data === null || digests.has(data)) return 0;
  const { digest: made, length } = digestOf(data);
  digests.set(data, made);
  return length;
}

let strange = 0;

/** Of the canonical text, since there are as many texts as revisions, and a template may be long. */
function digest(data: unknown): string {
  const known = typeof data === 'object' && data !== null ? digests.get(data) : undefined;
  if (known !== undefined) return known;
  const { digest: made } = digestOf(data);
  if (typeof data === 'object' && data !== null) digests.set(data, made);
  return made;
}

function digestOf(data: unknown): { digest: string; length: number } {
  // Of no template that we look after, with room for what is put around it and for nulls: like nothing else.
  if (excessOf(data, { depth: MAX_DEPTH + 10, values: 2 * MAX_VALUES }) !== undefined) return { digest: `strange ${++strange}`, length: 1 };
  const text = canonical(data);
  return { digest: createHash('sha256').update(text).digest('base64'), length: text.length };
}
