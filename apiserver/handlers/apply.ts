import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { applyStrategicPatch, strategicRules } from '../patch/strategic-patch.ts';
import type { MergeRule } from '../patch/strategic-patch.ts';
import { required, badRequest, invalid, StatusError } from '../errors.ts';
import { apiVersion } from '../kinds/kind.ts';
import type { ServedKind } from '../kinds/kind.ts';
import { conflictingFields, difference, fieldSetOf, withoutFields } from './field-set.ts';
import type { FieldSet } from './field-set.ts';
import { decoded } from './incoming.ts';

/*
 * Server-side apply, as far as `kubectl apply --server-side` needs it: only what was applied is tracked. Other writes own nothing, so a conflict
 * arises between two appliers alone.
 */

export interface ApplyRequest {
  manager: string;
  force: boolean;
  subresource: string;
  /** RFC 3339. */
  now: string;
}

/** Reads manager and force from the query. @throws StatusError 422 without a manager */
export function applyRequest(query: URLSearchParams, force: boolean, subresource: string, now: string): ApplyRequest {
  const manager = query.get('fieldManager') ?? '';
  if (manager === '') {
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [required('fieldManager', 'is required for apply patch')]);
  }
  return { manager, force, subresource, now };
}

/**
 * The object after an apply of `wanted`: its fields set, and those removed that this manager applied before and no other manager owns.
 * @param live - undefined to create
 * @throws StatusError 409 naming the other managers of fields whose value would change, unless forced
 */
export function applied(served: ServedKind, wanted: KubeObject, live: KubeObject | undefined, request: ApplyRequest): KubeObject {
  if (wanted.metadata.managedFields?.length) throw badRequest('metadata.managedFields must be nil');
  const rule = served.kind.mergeRule ?? strategicRules(served.kind.kind);
  const set = fieldSetOf(intent(wanted), rule);
  const entries = live?.metadata.managedFields?.filter(isEntry) ?? [];
  const mine = entries.find((entry) => isOf(entry, request));
  const others = entries.filter((entry) => !isOf(entry, request));
  if (live !== undefined && !request.force) checkConflicts(set, others, wanted, live, rule);
  const kept = others.map((entry) => ({
    ...entry,
    fieldsV1: request.force ? withoutConflicts(entry.fieldsV1, set, wanted, live, rule) : entry.fieldsV1,
  }));
  let dropped: FieldSet = mine ? difference(mine.fieldsV1, set) : {};
  for (const other of kept) dropped = difference(dropped, other.fieldsV1);
  const rest = live === undefined ? {} : withoutFields(live, dropped, rule);
  const merged = applyStrategicPatch(rest, wanted, rule);
  const entry = mine && jsonEqual(mine.fieldsV1, set) ? mine : newEntry(served, set, request);
  if (!isJsonObject(merged) || !isJsonObject(merged['metadata'])) throw badRequest('the applied object has no metadata');
  const managedFields = [...kept.filter(({ fieldsV1 }) => Object.keys(fieldsV1).length > 0), entry];
  return decoded({ ...merged, metadata: { ...merged['metadata'], managedFields } }, served.kind.schema, served.kind.kind);
}

interface Entry extends JsonObject {
  manager: string;
  operation: string;
  fieldsV1: FieldSet;
}

function isEntry(value: unknown): value is Entry {
  return isJsonObject(value) && typeof value['manager'] === 'string' && isJsonObject(value['fieldsV1']);
}

function isOf(entry: Entry, { manager, subresource }: ApplyRequest): boolean {
  return entry.manager === manager && entry.operation === 'Apply' && (entry['subresource'] ?? '') === subresource;
}

function newEntry(served: ServedKind, fieldsV1: FieldSet, { manager, subresource, now }: ApplyRequest): Entry {
  return {
    manager,
    operation: 'Apply',
    apiVersion: apiVersion(served.at),
    time: now,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...(subresource === '' ? {} : { subresource }),
  };
}

/** The part of an applied object that a manager owns: all but apiVersion, kind, name and namespace. */
function intent({ metadata, ...rest }: KubeObject): JsonObject {
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  const owned = Object.fromEntries(
    Object.entries({ labels, annotations, finalizers, ownerReferences }).filter(([, value]) => value !== undefined),
  );
  return Object.keys(owned).length === 0 ? rest : { ...rest, metadata: owned };
}

function checkConflicts(set: FieldSet, others: readonly Entry[], wanted: KubeObject, live: KubeObject, rule: MergeRule): void {
  const causes = others.flatMap((other) =>
    conflictingFields(set, other.fieldsV1, wanted, live, rule).map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${JSON.stringify(other.manager)}`,
      field,
    })),
  );
  if (causes.length === 0) return;
  const list = causes.map(({ message, field }) => `${message}: ${field}`).join(', ');
  const count = causes.length === 1 ? '1 conflict' : `${causes.length} conflicts`;
  throw new StatusError(409, 'Conflict', `Apply failed with ${count}: ${list}`, { causes });
}

/** What another manager keeps after a forced apply: the fields whose value the apply did not change. */
function withoutConflicts(theirs: FieldSet, set: FieldSet, wanted: KubeObject, live: KubeObject | undefined, rule: MergeRule): FieldSet {
  return conflictingFields(set, theirs, wanted, live, rule).length === 0 ? theirs : difference(theirs, set);
}
