import type { KubeObject } from '../../kube/api/object.ts';
import type { Answer, ApiRequest, ResourceRequest } from '../http/api-request.ts';
import { decodeObject } from '../http/body.ts';
import { apiVersion } from '../kinds/kind.ts';
import type { ServedKind, View } from '../kinds/kind.ts';
import { invalid, unsupportedMediaType } from '../errors.ts';
import type { Context } from './context.ts';
import { incomingObject } from './incoming.ts';
import { isApply, patchChange } from './patch.ts';
import { getObject } from './read.ts';
import { updateObject } from './write.ts';
import { dryRunOf } from './write-options.ts';

/** Answers a get, update or patch of an object as another kind. @throws StatusError */
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
  // As the view was a kind of its own: patches and decoding go by its schema.
  const alone: ServedKind = { kind: { ...served.kind, kind, schema: view.schema, served: [{ group, version }] }, at: { group, version } };
  let edit: (old: KubeObject) => KubeObject;
  if (request.verb === 'patch') {
    if (isApply(type)) throw unsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json']);
    edit = patchChange(alone, request, body, type);
  } else {
    const given = incomingObject(decodeObject(body, type), alone, request);
    edit = () => given;
  }
  const dryRun = dryRunOf(from.query, request.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions');
  const object = updateObject(context, served, request, { dryRun, subresource: request.subresource }, (old) => {
    const wanted = edit(view.show(old));
    const errors = view.validate(wanted);
    if (errors.length > 0) throw invalid({ group, kind }, request.name, errors);
    return view.change(old, wanted);
  });
  return { code: 200, json: shown(object) };
}
