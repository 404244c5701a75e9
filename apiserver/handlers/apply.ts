import { isJsonObject, jsonEqual, type JsonObject, setField } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { applyStrategicPatch, type MergeRule, strategicRules } from '../patch/strategic-patch.ts';
import { badRequest, invalid, required, StatusError } from '../errors.ts';
import { apiVersion, type ServedKind } from '../kinds/kind.ts';
import { decoded } from './incoming.ts';

/*
 * Server-side apply, as far as `kubectl apply --server-side` needs it: only applied fields are tracked. Other writes own no fields, so conflicts
 * occur only between two appliers.
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
 * The object after an apply of `wanted`: its fields are set, and fields that this manager applied before and no other manager owns are removed.
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

/** Fields that another manager still owns after a forced apply: those whose value did not change. */
function withoutConflicts(theirs: FieldSet, set: FieldSet, wanted: KubeObject, live: KubeObject | undefined, rule: MergeRule): FieldSet {
  return conflictingFields(set, theirs, wanted, live, rule).length === 0 ? theirs : difference(theirs, set);
}

/**
 * Which fields of an object a manager owns, in the form of `metadata.managedFields[].fieldsV1`: `f:NAME` a field, `k:{..}` an item of a list by
 * its key, `v:VALUE` an item of a set, `.` the thing itself. A node without children is set as a whole.
 */
interface FieldSet {
  [step: string]: FieldSet;
}

/** Every field that is in `value`. Lists without a key are one field. */
function fieldSetOf(value: unknown, rule: MergeRule = {}): FieldSet {
  const set: FieldSet = {};
  if (isJsonObject(value)) {
    for (const [name, one] of Object.entries(value)) setField(set, `f:${name}`, fieldSetOf(one, rule.fields?.[name]));
  } else if (Array.isArray(value) && rule.mergeKey !== undefined) {
    for (const item of value) set[itemStep(item, rule.mergeKey)] = { '.': {}, ...fieldSetOf(item, itemRule(rule)) };
  } else if (Array.isArray(value) && rule.set) {
    for (const item of value) set[`v:${JSON.stringify(item)}`] = {};
  }
  return set;
}

/** Fields that are in `left` and not in `right`. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  const set: FieldSet = {};
  for (const [step, inner] of Object.entries(left)) {
    if (!Object.hasOwn(right, step)) setField(set, step, inner);
    else if (!isWholeField(inner)) {
      const rest = difference(inner, right[step] ?? {});
      if (!isWholeField(right[step] ?? {}) && Object.keys(rest).length > 0) setField(set, step, rest);
    }
  }
  return set;
}

/** `value` without the fields in `set`; lists by key lose the items whose `.` is in it. */
function withoutFields(value: unknown, set: FieldSet, rule: MergeRule = {}): unknown {
  if (Array.isArray(value)) return value.flatMap((item) => withoutItem(item, set, rule));
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const [name, one] of Object.entries(value)) {
    const inner = Object.hasOwn(set, `f:${name}`) ? set[`f:${name}`] : undefined;
    if (inner === undefined) setField(kept, name, one);
    else if (!isWholeField(inner)) setField(kept, name, withoutFields(one, inner, rule.fields?.[name]));
  }
  return kept;
}

function withoutItem(item: unknown, set: FieldSet, rule: MergeRule): unknown[] {
  const step = rule.mergeKey === undefined ? `v:${JSON.stringify(item)}` : itemStep(item, rule.mergeKey);
  const inner = Object.hasOwn(set, step) ? set[step] : undefined;
  if (inner === undefined) return [item];
  if (isWholeField(inner) || Object.hasOwn(inner, '.')) return [];
  return [withoutFields(item, inner, itemRule(rule))];
}

/** Fields that both sets hold and whose values differ: `.data.a`, `.status.conditions[type="Ready"].status`. */
function conflictingFields(ours: FieldSet, theirs: FieldSet, wanted: unknown, live: unknown, rule: MergeRule = {}, path = ''): string[] {
  const found: string[] = [];
  for (const [step, inner] of Object.entries(ours)) {
    if (step === '.' || !Object.hasOwn(theirs, step)) continue;
    const at = path + stepText(step);
    const [mine, current] = [child(wanted, step, rule), child(live, step, rule)];
    if (isWholeField(inner) || isWholeField(theirs[step] ?? {})) {
      if (!jsonEqual(mine, current)) found.push(at);
    } else
      found.push(
        ...conflictingFields(
          inner,
          theirs[step] ?? {},
          mine,
          current,
          step.startsWith('f:') ? rule.fields?.[step.slice(2)] : itemRule(rule),
          at,
        ),
      );
  }
  return found;
}

function child(value: unknown, step: string, rule: MergeRule): unknown {
  if (step.startsWith('f:')) return isJsonObject(value) && Object.hasOwn(value, step.slice(2)) ? value[step.slice(2)] : undefined;
  if (!Array.isArray(value)) return undefined;
  return itemsByStep(value, rule).get(step);
}

/** Items of lists by key: an index per list, so that looking up all items of a list takes linear time. */
const walked = new WeakMap<readonly unknown[], ReadonlyMap<string, unknown>>();

function itemsByStep(list: readonly unknown[], { mergeKey }: MergeRule): ReadonlyMap<string, unknown> {
  const known = walked.get(list);
  if (known !== undefined) return known;
  const items = new Map<string, unknown>();
  for (const item of list) {
    const step = mergeKey === undefined ? `v:${JSON.stringify(item)}` : itemStep(item, mergeKey);
    if (!items.has(step)) items.set(step, item);
  }
  walked.set(list, items);
  return items;
}

function stepText(step: string): string {
  if (step.startsWith('f:')) return `.${step.slice(2)}`;
  if (step.startsWith('v:')) return `[=${step.slice(2)}]`;
  const key: unknown = JSON.parse(step.slice(2));
  const pairs = isJsonObject(key) ? Object.entries(key) : [];
  return `[${pairs.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
}

function itemStep(item: unknown, mergeKey: string | readonly string[]): string {
  const names = typeof mergeKey === 'string' ? [mergeKey] : [...mergeKey].sort();
  return `k:${JSON.stringify(Object.fromEntries(names.map((name) => [name, isJsonObject(item) ? (item[name] ?? null) : null])))}`;
}

/** The rule of one item of a list. */
function itemRule({ fields }: MergeRule): MergeRule {
  return fields ? { fields } : {};
}

function isWholeField(set: FieldSet): boolean {
  return Object.keys(set).every((step) => step === '.');
}
