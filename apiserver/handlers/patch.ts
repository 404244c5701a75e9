import { goJson } from '../../kube/api/go-json.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { patchContentTypes } from '../../kube/client/client.ts';
import { applyPatch, PatchError, strategicRules } from '../patch/patch.ts';
import type { ObjectPatchType } from '../patch/patch.ts';
import { describesOnly } from '../crd/custom-schema.ts';
import { decodeBody, mediaType } from '../http/body.ts';
import type { ResourceRequest } from '../http/api-request.ts';
import { apiVersion } from '../kinds/kind.ts';
import type { ServedKind } from '../kinds/kind.ts';
import { badRequest, StatusError, unsupportedMediaType } from '../errors.ts';
import { incomingObject } from './incoming.ts';

/** How an object changes: by one of the three patches. */
export function patchChange(
  served: ServedKind,
  request: ResourceRequest,
  bytes: Uint8Array,
  contentType: string,
): (old: KubeObject) => KubeObject {
  const type = patchType(contentType, describesOnly(served.kind.schema));
  const patch = decodeBody(bytes, contentType);
  return (old) => {
    const typed = { apiVersion: apiVersion(served.at), kind: served.kind.kind, ...(served.at.fromStored?.(old) ?? old) };
    try {
      const patched = applyPatch(type, typed, patch, served.kind.mergeRule ?? strategicRules(served.kind.kind));
      if (!isJsonObject(patched)) throw badRequest('the patched object is no object');
      return incomingObject(type === 'strategic' ? rewritten(patched, served.kind.verbatim) : patched, served, request);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      const failure =
        error.problem === 'malformed'
          ? badRequest(error.message)
          : new StatusError(422, 'Invalid', `the server rejected our request due to an error in our request: ${error.message}`, {});
      throw Object.assign(failure, { cause: error });
    }
  };
}

/** With the field as the server itself would write it. */
function rewritten(object: JsonObject, field: string | undefined): JsonObject {
  return field === undefined || object[field] === undefined ? object : { ...object, [field]: JSON.parse(goJson(object[field])) as unknown };
}

export function isApply(contentType: string): boolean {
  return mediaType(contentType) === patchContentTypes.apply;
}

/** @param isCustom - of a kind without types, so that nobody knows how to merge its lists */
function patchType(contentType: string, isCustom: boolean): ObjectPatchType {
  const type = mediaType(contentType);
  const known = (['json', 'merge', 'strategic'] as const).find((one) => patchContentTypes[one] === type);
  if (isCustom && known === 'strategic') {
    throw unsupportedMediaType([patchContentTypes.json, patchContentTypes.merge, patchContentTypes.apply]);
  }
  if (known === undefined) throw unsupportedMediaType(Object.values(patchContentTypes));
  return known;
}
