import { isJsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { restrictNode } from '../auth/authorize.ts';
import { describesOnly } from '../crd/custom-schema.ts';
import {
  type Answer,
  type ApiRequest,
  decodeBody,
  decodeObject,
  formatOf,
  isTrue,
  type Line,
  type ResourceRequest,
} from '../http/message.ts';
import { allVerbs, groupResource, type RuleContext, type ServedKind, storageName } from '../kinds/kind.ts';
import { badRequest, invalid, methodNotAllowed, noSuchPath, messagesOf } from '../errors.ts';
import { storageKey } from '../storage/storage.ts';
import { applied, applyRequest } from './apply.ts';
import { type Context, dryRunOf, rules } from './context.ts';
import { deleteObject, deleteOptions, evict, isEviction } from './delete.ts';
import { incomingObject } from './incoming.ts';
import { handleView, isApply, patchChange } from './patch.ts';
import { type Presenter, presenter } from './present.ts';
import { getObject, listObjects } from './read.ts';
import { type WatchEvent, watchObjects } from './watch.ts';
import { createObject, updateObject } from './write.ts';

/** An authorized request with all that its handler needs. */
interface Call {
  context: Context;
  served: ServedKind;
  request: ResourceRequest;
  from: ApiRequest;
  body: Uint8Array;
  present: Presenter;
}

/** Handles one request for objects. @throws StatusError */
export function handleResource(context: Context, request: ResourceRequest, from: ApiRequest, body: Uint8Array): Answer {
  const served = context.registry.find(request.group, request.version, request.resource);
  if (served === undefined) throw noSuchPath();
  checkAllowed(served, request);
  const view = ownField(served.kind.views, request.subresource);
  if (view !== undefined) return handleView(context, served, view, request, from, body);
  const present = presenter(served, formatOf(from.header('accept')), from.query, context.registry.release, () => context.clock.now());
  const call: Call = { context, served, request, from, body, present };
  switch (request.verb) {
    case 'get':
      return { code: 200, json: present.object(getObject(context, served, request, from)) };
    case 'list':
      return { code: 200, json: present.list(listObjects(context, served, request, from)) };
    case 'watch':
      return {
        code: 200,
        type: 'application/json',
        stream: lines(watchObjects(context, served, request, selectingName(request, from)), present),
      };
    case 'create':
      return create(call);
    case 'update':
    case 'patch':
      return change(call);
    case 'delete':
      return remove(call);
    case 'deletecollection':
      return removeAll(call);
  }
}

function checkAllowed(served: ServedKind, { verb, namespace, name, subresource }: ResourceRequest): void {
  const { kind } = served;
  if (subresource !== '') {
    const isState = (subresource === 'status' && kind.hasStatus === true) || Object.hasOwn(kind.views ?? {}, subresource);
    const action = Object.hasOwn(kind.actions ?? {}, subresource) || isEviction(served, subresource);
    if (!isState && !action) throw noSuchPath();
    if (!(isState ? ['get', 'update', 'patch'] : ['create']).includes(verb)) throw methodNotAllowed(groupResource(served));
    return;
  }
  if (!kind.namespaced && namespace !== '') throw noSuchPath();
  if (kind.namespaced && namespace === '' && (name !== '' || verb === 'create' || verb === 'deletecollection'))
    throw methodNotAllowed(groupResource(served));
  if (verb === 'create' && name === '' && describesOnly(kind.schema) && !(kind.verbs ?? allVerbs).includes(verb)) {
    throw methodNotAllowed(groupResource(served), 'create not allowed while custom resource definition is terminating');
  }
  if (
    !(kind.verbs ?? allVerbs).includes(verb) ||
    (verb === 'create' && name !== '') ||
    (verb === 'update' && name === '') ||
    (verb === 'patch' && name === '')
  ) {
    throw methodNotAllowed(groupResource(served));
  }
}

function ownField<T>(fields: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

function create({ context, served, request, from, body, present }: Call): Answer {
  const given = decodeObject(body, from.header('content-type'));
  const dryRun = dryRunOf(from.query, 'CreateOptions');
  if (isEviction(served, request.subresource)) {
    evict(context, served, request, given, from.query);
    return { code: 201, json: success };
  }
  const action = served.kind.actions?.[request.subresource];
  if (request.subresource !== '' && action !== undefined) {
    const { metadata, ...rest } = given;
    const posted: KubeObject = { ...rest, metadata: isJsonObject(metadata) ? metadata : {} };
    const errors = action.validate(posted);
    if (errors.length > 0) throw invalid({ group: '', kind: action.kind }, request.name, messagesOf(context.registry.release, errors));
    const rule = rules(context, request.subresource);
    updateObject(context, served, request, { dryRun, subresource: request.subresource }, (old) => action.act(old, posted, rule));
    return { code: 201, json: success };
  }
  const made = incomingObject(given, served, request);
  if (served.kind.answer !== undefined) return { code: 201, json: present.object(served.kind.answer(made, from.user, rules(context, ''))) };
  restrictNode(from.user, served, made, undefined);
  const object = createObject(context, served, made, { dryRun, subresource: '' });
  return { code: 201, json: present.object(object) };
}

function change({ context, served, request, from, body, present }: Call): Answer {
  const contentType = from.header('content-type');
  const options = {
    dryRun: dryRunOf(from.query, request.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions'),
    subresource: request.subresource,
  };
  let edit: (old: KubeObject) => KubeObject;
  if (request.verb === 'patch' && isApply(contentType)) {
    const wanted = incomingObject(decodeObject(body, contentType), served, request, 'left out');
    const asked = applyRequest(from.query, isTrue(from.query.get('force')), request.subresource, rules(context, '').now);
    if (request.subresource === '' && !exists(context, served, request)) {
      const made = applied(served, wanted, undefined, asked);
      restrictNode(from.user, served, made, undefined);
      return { code: 201, json: present.object(createObject(context, served, made, { ...options, subresource: '' })) };
    }
    edit = (old) => applied(served, wanted, old, asked);
  } else if (request.verb === 'patch') edit = patchChange(served, request, body, contentType, context.registry.release);
  else {
    const given = incomingObject(decodeObject(body, contentType), served, request);
    edit = () => given;
  }
  const object = updateObject(context, served, request, options, (old) => {
    const edited = edit(old);
    restrictNode(from.user, served, edited, old);
    return edited;
  });
  return { code: 200, json: present.object(object), headers: warnings(served, object, rules(context, request.subresource)) };
}

function warnings({ kind }: ServedKind, object: KubeObject, context: RuleContext): Record<string, string> {
  const found = kind.warnings?.(object, context) ?? [];
  return found.length === 0 ? {} : { warning: found.map((one) => `299 - ${JSON.stringify(one)}`).join(', ') };
}

function exists(context: Context, served: ServedKind, { namespace, name }: ResourceRequest): boolean {
  return context.storage.get(storageName(served.kind), storageKey(namespace, name)) !== undefined;
}

function remove({ context, served, request, from, body, present }: Call): Answer {
  const { object, removed } = deleteObject(context, served, request, deleteOptions(bodyOptions(body, from), from.query));
  if (!removed || served.kind.returnsDeleted === true) return { code: 200, json: present.object(object) };
  const { group, resource } = groupResource(served);
  const details = { name: request.name, ...(group === '' ? {} : { group }), kind: resource, uid: object.metadata.uid };
  return { code: 200, json: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

function removeAll({ context, served, request, from, body, present }: Call): Answer {
  const options = deleteOptions(bodyOptions(body, from), from.query);
  const page = listObjects(context, served, request, from);
  for (const { metadata } of page.objects)
    deleteObject(context, served, { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }, options);
  return { code: 200, json: present.list(page) };
}

function bodyOptions(body: Uint8Array, from: ApiRequest): Record<string, unknown> {
  if (body.length === 0) return {};
  const options = decodeBody(body, from.header('content-type'));
  if (options === null) return {};
  if (!isJsonObject(options)) throw badRequest('delete options must be an object');
  return options;
}

/** Turns a watch of one object by its path into a watch with a field selector for its name. */
function selectingName({ name }: ResourceRequest, from: ApiRequest): ApiRequest {
  if (name === '') return from;
  const query = new URLSearchParams(from.query);
  const selector = query.get('fieldSelector');
  query.set('fieldSelector', `${selector ? `${selector},` : ''}metadata.name=${name}`);
  return { ...from, query };
}

async function* lines(batches: AsyncIterable<readonly WatchEvent[]>, present: Presenter): AsyncGenerator<readonly Line[]> {
  for await (const batch of batches) {
    yield batch.map((event) => ({
      type: event.type,
      name: 'object' in event ? (event.object.metadata.name ?? '') : '',
      text: `${JSON.stringify(present.event(event))}\n`,
    }));
  }
}
