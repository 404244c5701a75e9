import { goJson, isJsonObject, type JsonObject } from '../../kube/api/json.ts';
import { patchContentTypes } from '../../kube/client/client.ts';
import { applyJsonPatch, applyMergePatch, PatchError } from '../patch/json-patch.ts';
import { applyStrategicPatch, type MergeRule, strategicRules } from '../patch/strategic-patch.ts';
import { describesOnly } from '../crd/custom-schema.ts';
import { type Answer, type ApiRequest, decodeBody, decodeObject, mediaType, type ResourceRequest } from '../http/message.ts';
import { apiVersion, type ServedKind, type View } from '../kinds/kind.ts';
import { badRequest, invalid, StatusError, unsupportedMediaType, messagesOf } from '../errors.ts';
import { incomingObject } from './incoming.ts';
import { unreachable } from '../../base/errors.ts';
import { getObject } from './read.ts';
import { updateObject } from './write.ts';
import { type Context, dryRunOf } from './context.ts';
import type { KubeObject } from '../../kube/api/object.ts';

/** The change that a patch request makes. @param release - N of the server's release 1.N */
export function patchChange(
  served: ServedKind,
  request: ResourceRequest,
  bytes: Uint8Array,
  contentType: string,
  release: number,
): (old: KubeObject) => KubeObject {
  const type = patchType(contentType, describesOnly(served.kind.schema));
  const patch = decodeBody(bytes, contentType);
  return (old) => {
    const typed = { apiVersion: apiVersion(served.at), kind: served.kind.kind, ...(served.at.fromStored?.(old) ?? old) };
    try {
      const patched = applyPatch(type, typed, patch, served.kind.mergeRule ?? strategicRules(served.kind.kind));
      if (!isJsonObject(patched)) throw badRequest('the patch result is not an object');
      return incomingObject(type === 'strategic' ? rewritten(patched, served.kind.verbatim) : patched, served, request);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      const failure = error.problem === 'malformed' ? badRequest(error.message) : inapplicable(error.message, release);
      throw Object.assign(failure, { cause: error });
    }
  };
}

/** Later servers do not name the failed operation. */
function inapplicable(why: string, release: number): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError(422, 'Invalid', release < 34 ? `${message}: ${why}` : message, {});
}

/** The object with the field encoded by the server. */
function rewritten(object: JsonObject, field: string | undefined): JsonObject {
  return field === undefined || object[field] === undefined ? object : { ...object, [field]: JSON.parse(goJson(object[field])) as unknown };
}

export function isApply(contentType: string): boolean {
  return mediaType(contentType) === patchContentTypes.apply;
}

/** @param isCustom - a custom resource, which does not support strategic merge patch */
function patchType(contentType: string, isCustom: boolean): ObjectPatchType {
  const type = mediaType(contentType);
  const known = (['json', 'merge', 'strategic'] as const).find((one) => patchContentTypes[one] === type);
  if (isCustom && known === 'strategic') {
    throw unsupportedMediaType([patchContentTypes.json, patchContentTypes.merge, patchContentTypes.apply]);
  }
  if (known === undefined) throw unsupportedMediaType(Object.values(patchContentTypes));
  return known;
}

/** Patches that depend only on the object; server-side apply also depends on the managers of fields. */
type ObjectPatchType = 'json' | 'merge' | 'strategic';

/**
 * `target` with `patch` applied. Neither is changed; the result may share parts with both.
 * @param rule - for strategic patches, {@link strategicRules} of the kind
 * @throws {PatchError} `malformed` (400) or `inapplicable` (422)
 */
export function applyPatch(type: ObjectPatchType, target: unknown, patch: unknown, rule?: MergeRule): unknown {
  switch (type) {
    case 'json':
      return applyJsonPatch(target, patch);
    case 'merge':
      if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
        throw new PatchError('malformed', 'a merge patch of an API object must be an object');
      }
      return applyMergePatch(target, patch);
    case 'strategic':
      return applyStrategicPatch(target, patch, rule);
    default:
      return unreachable(type);
  }
}

/** Handles get, update and patch of an object as another kind. @throws StatusError */
export function handleView(
  context: Context,
  served: ServedKind,
  view: View,
  request: ResourceRequest,
  from: ApiRequest,
  body: Uint8Array,
): Answer {
  const { group, version, kind } = view;
  const shown = (object: KubeObject) => ({ kind, apiVersion: apiVersion(view), ...view.show(object) });
  if (request.verb === 'get') return { code: 200, json: shown(getObject(context, served, request, from)) };
  const type = from.header('content-type');
  // Patches and decoding use the schema of the view.
  const alone: ServedKind = { kind: { ...served.kind, kind, schema: view.schema, served: [{ group, version }] }, at: { group, version } };
  let edit: (old: KubeObject) => KubeObject;
  if (request.verb === 'patch') {
    if (isApply(type)) throw unsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json']);
    edit = patchChange(alone, request, body, type, context.registry.release);
  } else {
    const given = incomingObject(decodeObject(body, type), alone, request);
    edit = () => given;
  }
  const dryRun = dryRunOf(from.query, request.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions');
  const object = updateObject(context, served, request, { dryRun, subresource: request.subresource }, (old) => {
    const wanted = edit(view.show(old));
    const errors = view.validate(wanted);
    if (errors.length > 0) throw invalid({ group, kind }, request.name, messagesOf(context.registry.release, errors));
    return view.change(old, wanted);
  });
  return { code: 200, json: shown(object) };
}
