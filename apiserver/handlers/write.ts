import { jsonEqual } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { groupResource, hasGeneration, storageName } from '../kinds/kind.ts';
import type { ServedKind } from '../kinds/kind.ts';
import { validateMetadata, validateMetadataUpdate } from '../kinds/metadata-rules.ts';
import { storageKey } from '../storage/storage.ts';
import { alreadyExists, badRequest, conflict, forbidden, invalid, modified, notFound, messagesOf } from '../errors.ts';
import type { Context } from './context.ts';
import { generateName, newUid, rules } from './context.ts';
import { sweepNamespace } from './delete.ts';

export interface WriteOptions {
  /** Responds as if the write were done, and stores nothing. */
  dryRun: boolean;
  subresource: string;
}

/** Creates an object. @throws StatusError 404 if its namespace is missing, 409 if the name is taken, 422 with all validation errors */
export function createObject(context: Context, served: ServedKind, given: KubeObject, options: WriteOptions): KubeObject {
  const { kind } = served;
  const rule = rules(context, '');
  const {
    resourceVersion,
    deletionTimestamp: _,
    deletionGracePeriodSeconds: _grace,
    generation: _generation,
    ...metadata
  } = given.metadata;
  if (resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created');
  if (kind.namespaced) requireNamespace(context, metadata.namespace ?? '', groupResource(served), metadata.name ?? '');
  const generated = !metadata.name && metadata.generateName ? { name: generateName(metadata.generateName, context.random) } : {};
  let object: KubeObject = {
    ...given,
    metadata: {
      ...metadata,
      ...generated,
      uid: newUid(context.random),
      creationTimestamp: rule.now,
      ...(hasGeneration(kind, context.registry.release) ? { generation: 1 } : {}),
    },
  };
  if (kind.hasStatus && kind.prepareCreate === undefined) delete object['status'];
  object = kind.prepareCreate?.(object, rule) ?? object;
  object = kind.defaults?.(object, rule) ?? object;
  const errors = [...validateMetadata(kind, object), ...(kind.validate?.(object, rule) ?? [])];
  const name = object.metadata.name ?? '';
  if (errors.length > 0) throw invalid({ group: served.at.group, kind: kind.kind }, name, messagesOf(context.registry.release, errors));
  const key = storageKey(object.metadata.namespace, name);
  if (context.storage.get(storageName(kind), key)) throw alreadyExists(groupResource(served), name);
  return options.dryRun ? object : context.storage.put(storageName(kind), key, object);
}

/** Updates the object at `name` with the result of `change`. @throws StatusError 404, 409, 422 */
export function updateObject(
  context: Context,
  served: ServedKind,
  at: { namespace: string; name: string },
  options: WriteOptions,
  change: (old: KubeObject) => KubeObject,
): KubeObject {
  const { kind } = served;
  const key = storageKey(at.namespace, at.name);
  const old = context.storage.get(storageName(kind), key);
  if (old === undefined) throw notFound(groupResource(served), at.name);
  const given = change(old);
  checkVersions(served, given, old);
  const rule = rules(context, options.subresource);
  let object = split(served, withSystemFields(given, old), old, options.subresource);
  object = kind.prepareUpdate?.(object, old, rule) ?? object;
  object = kind.defaults?.(object, rule) ?? object;
  const errors = [
    ...validateMetadata(kind, object),
    ...validateMetadataUpdate(object, old),
    ...(kind.validateUpdate ? kind.validateUpdate(object, old, rule) : (kind.validate?.(object, rule) ?? [])),
  ];
  if (errors.length > 0) throw invalid({ group: served.at.group, kind: kind.kind }, at.name, messagesOf(context.registry.release, errors));
  // Changes by an action, such as the node of a binding, do not increment the generation.
  const isCounted = hasGeneration(kind, context.registry.release) && kind.actions?.[options.subresource] === undefined;
  if (isCounted && !jsonEqual(body(served, object), body(served, old))) object = withNextGeneration(object);
  return commitUpdate(context, served, key, object, old, options.dryRun);
}

/** Stores a validated object, or removes a terminating one whose last finalizer is gone. */
export function commitUpdate(
  context: Context,
  served: ServedKind,
  key: string,
  object: KubeObject,
  old: KubeObject,
  dryRun: boolean,
): KubeObject {
  const { kind } = served;
  const { resourceVersion: _now, ...metadata } = object.metadata;
  const { resourceVersion: _before, ...oldMetadata } = old.metadata;
  // An update that changes nothing is not a change: same resourceVersion, no watch event.
  if (jsonEqual({ ...object, metadata }, { ...old, metadata: oldMetadata })) return old;
  if (dryRun) return object;
  if (isFinished(served, object)) {
    // The last change itself is not stored: the object is removed in its previous state, and watches get only DELETED.
    context.storage.remove(storageName(kind), key);
    sweepNamespace(context, object.metadata.namespace);
    return object;
  }
  const stored = context.storage.put(storageName(kind), key, object);
  if (kind.resource === 'namespaces') sweepNamespace(context, stored.metadata.name);
  return stored;
}

/** Whether the object is terminating and has no finalizer and no grace period left. */
function isFinished({ kind }: ServedKind, { metadata }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined || kind.resource === 'namespaces') return false;
  return !metadata.finalizers?.length && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}

function checkVersions(served: ServedKind, given: KubeObject, old: KubeObject): void {
  const { name = '', uid, resourceVersion } = given.metadata;
  if (uid && uid !== old.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ''}`;
    throw conflict(groupResource(served), name, why);
  }
  const blind = !resourceVersion || resourceVersion === '0';
  if (blind && served.kind.needsVersion === true) {
    const missing = {
      field: 'metadata.resourceVersion',
      type: 'invalid',
      shown: '0x0',
      detail: 'must be specified for an update',
    } as const;
    // The real server checks this before it has the kind, so its message names the resource.
    throw invalid({ group: served.at.group, kind: served.kind.resource }, name, [missing]);
  }
  if (!blind && resourceVersion !== old.metadata.resourceVersion) throw modified(groupResource(served), name);
}

/** Keeps the fields that only the server sets. */
function withSystemFields(given: KubeObject, old: KubeObject): KubeObject {
  const {
    deletionTimestamp: _,
    deletionGracePeriodSeconds: _grace,
    generation: _generation,
    selfLink: _link,
    ...metadata
  } = given.metadata;
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation, managedFields } = old.metadata;
  return {
    ...given,
    metadata: {
      ...metadata,
      ...(uid === undefined ? {} : { uid }),
      ...(metadata.managedFields || managedFields === undefined ? {} : { managedFields }),
      ...(metadata.creationTimestamp || creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
      ...(generation === undefined ? {} : { generation }),
    },
  };
}

/** A write of the object does not change status; a write of `/status` changes only status and metadata. */
function split(served: ServedKind, given: KubeObject, old: KubeObject, subresource: string): KubeObject {
  // An action returns the complete changed object.
  if (served.kind.hasStatus !== true || (subresource !== '' && subresource !== 'status')) return given;
  if (subresource !== 'status') return withField(given, 'status', old['status']);
  return withField({ ...old, metadata: { ...given.metadata } }, 'status', given['status']);
}

function withField(object: KubeObject, field: string, value: unknown): KubeObject {
  const { [field]: _dropped, ...rest } = object;
  return value === undefined ? { ...rest, metadata: object.metadata } : { ...rest, metadata: object.metadata, [field]: value };
}

/** The fields whose changes increment the generation: all but metadata, and but status if it is a subresource. */
function body({ kind }: ServedKind, object: KubeObject): Record<string, unknown> {
  const { metadata: _metadata, status, ...rest } = object;
  return kind.hasStatus === true ? rest : { ...rest, status };
}

function withNextGeneration(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 } };
}

function requireNamespace(context: Context, namespace: string, of: { group: string; resource: string }, name: string): void {
  const found = context.storage.get('/namespaces', namespace);
  if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
  if (found.metadata.deletionTimestamp !== undefined) {
    throw forbidden(of, name, `unable to create new content in namespace ${namespace} because it is being terminated`);
  }
}
