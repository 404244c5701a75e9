import { describeError } from '../../base/errors.ts';
import { type LabelSelector, type LabelSelectorObject, labelSelectorOf, matchesLabels } from '../api/selector.ts';
import { type Informer, type Key, type Lister, objectKey } from '../cache/contract.ts';
import { jsonEqual } from '../api/json.ts';
import type { Log } from '../../base/log.ts';
import type { KubeObject, ObjectMeta, OwnerReference, Resource } from '../api/object.ts';

type Meta = Readonly<Pick<KubeObject, 'metadata'>>;

/** The owner reference with `controller: true`; undefined for an orphan. */
export function controllerOf({ metadata }: Meta): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** By UID: a successor with the same name is a different owner. */
export function isControlledBy(object: Meta, owner: Meta): boolean {
  const uid = controllerOf(object)?.uid;
  return uid !== undefined && uid !== '' && uid === owner.metadata.uid;
}

/** Whether both have equal controller references; true for two orphans. */
export function haveSameController(before: Meta, after: Meta): boolean {
  return jsonEqual(controllerOf(before), controllerOf(after));
}

/**
 * The controller reference of objects that are created for `owner`.
 * @throws {TypeError} when the owner has no name or UID: such a reference would have the garbage collector delete the object at once
 */
export function controllerRef(owner: Meta, { group, version, kind }: Resource): OwnerReference {
  const { name, uid } = named(owner.metadata);
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * The owner that a controller reference names: the kind must match (the group is ignored, as upstream), and the UID too, since another object may have had
 * that name.
 */
export function resolveRef<T extends KubeObject>(
  ref: OwnerReference,
  namespace: string | undefined,
  { kind }: Pick<Resource, 'kind'>,
  owners: Pick<Lister<T>, 'get'>,
): Readonly<T> | undefined {
  if (ref.kind !== kind) return undefined;
  const owner = owners.get(objectKey({ metadata: { name: ref.name, ...(namespace === undefined ? {} : { namespace }) } }));
  return owner?.metadata.uid === ref.uid ? owner : undefined;
}

/** Strategic merge patch that makes `owner` the controller. The UID prevents the patch of a successor with the same name. */
export function adoptPatch(object: Meta, ref: OwnerReference): object {
  const { apiVersion, kind, name, uid } = ref;
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  return { metadata: { ownerReferences: [owner], uid: named(object.metadata).uid } };
}

/** Strategic merge patch that removes the owner's reference, and no other. */
export function releasePatch(object: Meta, ownerUid: string): object {
  return { metadata: { ownerReferences: [{ $patch: 'delete', uid: ownerUid }], uid: named(object.metadata).uid } };
}

function named({ name = '', uid = '' }: ObjectMeta): { name: string; uid: string } {
  if (name === '' || uid === '') throw new TypeError(`an object without ${name === '' ? 'name' : 'uid'} is in no API server yet`);
  return { name, uid };
}

/** Name of the index of objects by the UID of their controller; orphans by namespace. */
export const BY_OWNER = 'owner';

export const orphanValue = (namespace: string): string => `orphans/${namespace}`;

export function byOwner(object: Readonly<KubeObject>): string[] {
  const owner = controllerOf(object);
  return [owner === undefined ? orphanValue(object.metadata.namespace ?? '') : owner.uid];
}

/**
 * The objects of an owner in a cache, and the orphans that it might adopt.
 * @param index - an index with the values of {@link byOwner}
 */
export function ownedOrOrphaned<T extends KubeObject>(
  cache: Pick<Informer<T>, 'indexed'>,
  { metadata: { uid = '', namespace = '' } }: Readonly<KubeObject>,
  index: string = BY_OWNER,
): Readonly<T>[] {
  return [...cache.indexed(index, uid), ...cache.indexed(index, orphanValue(namespace))];
}

/** Owners named in one log line. */
const MAX_NAMED = 10;
/** Groups of overlapping owners that are remembered as logged. */
const MAX_LOGGED_OVERLAPS = 1_000;

/**
 * `owns.matching` for kinds that select what they own by labels, as DaemonSets and StatefulSets do: the owners in the orphan's namespace whose
 * selector matches its labels.
 *
 * An orphan without labels matches no owner, and an owner without a selector, or with an empty one, matches nothing: an omitted selector does not mean
 * everything. An owner with an invalid selector is skipped, which is logged once for each of its states. Where several owners match, all are returned, since
 * only reconcile may decide which one adopts; such an overlap is a user error, logged once for these owners.
 *
 * @param selectorOf - such as `spec.selector`; called once for each state of an owner, and its result is kept as long as that state
 */
export function matchingOwners<T extends KubeObject>(
  selectorOf: (owner: Readonly<T>) => LabelSelectorObject | null | undefined,
  log: Log,
): (orphan: Readonly<KubeObject>, owners: Pick<Lister<T>, 'list'>) => Key[] {
  // A cached object is never modified, so one entry for each object is valid for its version, and is dropped together with it.
  const parsed = new WeakMap<Readonly<T>, LabelSelector>();
  const selects = (owner: Readonly<T>): LabelSelector => {
    const known = parsed.get(owner);
    if (known !== undefined) return known;
    const selector = parse(owner, selectorOf, log);
    parsed.set(owner, selector);
    return selector;
  };
  const logged = new Set<string>();
  /** Every event of an orphan detects the overlap: it is logged once for these owners, and again only after 1,000 others. */
  const overlap = (keys: readonly Key[], facts: { kind: string | undefined; object: Key }): void => {
    const pair = keys.slice(0, MAX_NAMED).toSorted();
    const text = pair.join(' ');
    if (logged.has(text)) return;
    if (logged.size >= MAX_LOGGED_OVERLAPS) logged.clear();
    logged.add(text);
    const more = keys.length > MAX_NAMED ? { more: keys.length - MAX_NAMED } : {};
    log.error('several owners select the same object; give them different selectors', { ...facts, owners: pair, ...more });
  };
  return ({ kind, metadata }, owners) => {
    const { namespace, labels = {} } = metadata;
    if (Object.keys(labels).length === 0) return [];
    const keys = owners
      .list(namespace)
      .filter((owner) => {
        const selector = selects(owner);
        return owner.metadata.namespace === namespace && selector.length > 0 && matchesLabels(selector, labels);
      })
      .map(objectKey);
    if (keys.length > 1) overlap(keys, { kind, object: objectKey({ metadata }) });
    return keys;
  };
}

/** @returns [], which selects nothing here, for an invalid selector too */
function parse<T extends KubeObject>(
  owner: Readonly<T>,
  selectorOf: (owner: Readonly<T>) => LabelSelectorObject | null | undefined,
  log: Log,
): LabelSelector {
  try {
    return labelSelectorOf(selectorOf(owner) ?? {});
  } catch (error) {
    log.warn('invalid selector; its owner adopts nothing', {
      kind: owner.kind,
      owner: objectKey(owner),
      error: describeError(error),
    });
    return [];
  }
}
