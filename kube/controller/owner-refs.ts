import { jsonEqual } from '../api/json.ts';
import type { KubeObject, ObjectMeta, OwnerReference, Resource } from '../api/object.ts';
import { objectKey } from '../cache/contract.ts';
import type { Lister } from '../cache/contract.ts';

type Meta = Readonly<Pick<KubeObject, 'metadata'>>;

/** The one owner that looks after the object; undefined for an orphan. */
export function controllerOf({ metadata }: Meta): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** By UID: another owner of the same name is another owner. */
export function isControlledBy(object: Meta, owner: Meta): boolean {
  const uid = controllerOf(object)?.uid;
  return uid !== undefined && uid !== '' && uid === owner.metadata.uid;
}

/** Whether both have the same controller, word for word; two orphans have. */
export function haveSameController(before: Meta, after: Meta): boolean {
  return jsonEqual(controllerOf(before), controllerOf(after));
}

/**
 * The reference that what is made for `owner` carries.
 * @throws {TypeError} when the owner has no name or UID: such a reference would have the garbage collector delete the object at once
 */
export function controllerRef(owner: Meta, { group, version, kind }: Resource): OwnerReference {
  const { name, uid } = named(owner.metadata);
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * The owner that a controller reference means: the kind must be right (its group is not looked at, as upstream), and the UID too, else it was
 * another one of that name.
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

/** Strategic merge patch that makes `owner` the controller. The UID keeps it from a newer object of the same name. */
export function adoptPatch(object: Meta, ref: OwnerReference): object {
  const { apiVersion, kind, name, uid } = ref;
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  return { metadata: { ownerReferences: [owner], uid: named(object.metadata).uid } };
}

/** Strategic merge patch that takes the owner's reference away, and no other. */
export function releasePatch(object: Meta, ownerUid: string): object {
  return { metadata: { ownerReferences: [{ $patch: 'delete', uid: ownerUid }], uid: named(object.metadata).uid } };
}

function named({ name = '', uid = '' }: ObjectMeta): { name: string; uid: string } {
  if (name === '' || uid === '') throw new TypeError(`an object without ${name === '' ? 'name' : 'uid'} is in no API server yet`);
  return { name, uid };
}
