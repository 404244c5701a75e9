import { isJsonObject } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';
import type { KubeObject, ObjectMeta } from '../../kube/api/object.ts';
import { describesOnly } from '../crd/custom-schema.ts';
import type { ResourceRequest } from '../http/api-request.ts';
import type { ServedKind } from '../kinds/kind.ts';
import { apiVersion } from '../kinds/kind.ts';
import type { Schema } from '../openapi/schema.ts';
import { badRequest } from '../status-error.ts';
import { decodeBySchema } from './decode.ts';

/**
 * An object from a request, in its stored form: without apiVersion and kind, with metadata of the right types.
 * @throws StatusError 400 when it is of another kind, or does not fit the path
 */
export function incomingObject(body: JsonObject, served: ServedKind, request: Pick<ResourceRequest, 'namespace' | 'name'>): KubeObject {
  const { apiVersion: version = apiVersion(served.at), kind = served.kind.kind, metadata, ...rest } = body;
  if (version !== apiVersion(served.at) || kind !== served.kind.kind) {
    throw badRequest(
      `${String(kind)} in version ${JSON.stringify(version)} cannot be handled as a ${served.kind.kind}: ` +
        `the path is of ${apiVersion(served.at)}, kind ${served.kind.kind}`,
    );
  }
  const object = decoded({ ...rest, metadata }, served.at.schema ?? served.kind.schema, served.kind.kind);
  if (served.kind.namespaced) {
    if (object.metadata.namespace && object.metadata.namespace !== request.namespace) {
      throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
    }
    object.metadata.namespace = request.namespace;
  }
  if (request.name !== '') {
    if (object.metadata.name && object.metadata.name !== request.name) {
      throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${request.name})`);
    }
    object.metadata.name = request.name;
  }
  return served.at.toStored?.(object) ?? object;
}

/** An object as types would keep it. @throws StatusError 400 */
export function decoded(object: JsonObject, schema: Schema, kind: string): KubeObject {
  const given = { ...object, metadata: incomingMetadata(object['metadata'], kind) };
  if (describesOnly(schema)) return given;
  const typed = decodeBySchema(given, schema, '');
  return { metadata: {}, ...(isJsonObject(typed) ? typed : {}) };
}

const texts = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'selfLink',
]);
const textMaps = new Set(['labels', 'annotations']);

function incomingMetadata(value: unknown, kind: string): ObjectMeta {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw wrongType(kind, 'metadata', 'an object');
  const metadata: JsonObject = {};
  for (const [field, found] of Object.entries(value)) {
    if (found === null) continue;
    if (texts.has(field) && typeof found !== 'string') throw wrongType(kind, `metadata.${field}`, 'a string');
    if (textMaps.has(field)) {
      if (!isJsonObject(found)) throw wrongType(kind, `metadata.${field}`, 'a map of strings');
      for (const one of Object.values(found)) if (typeof one !== 'string') throw wrongType(kind, `metadata.${field}`, 'a map of strings');
      if (Object.keys(found).length === 0) continue;
    }
    if (field === 'finalizers' && !(Array.isArray(found) && found.every((one) => typeof one === 'string'))) {
      throw wrongType(kind, 'metadata.finalizers', 'a list of strings');
    }
    if (field === 'ownerReferences' && !(Array.isArray(found) && found.every(isJsonObject))) {
      throw wrongType(kind, 'metadata.ownerReferences', 'a list of objects');
    }
    if (Array.isArray(found) && found.length === 0) continue;
    metadata[field] = found;
  }
  return metadata;
}

function wrongType(kind: string, field: string, wanted: string): Error {
  return badRequest(`${kind} cannot be handled: ${field} must be ${wanted}`);
}
