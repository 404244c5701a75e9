import { isJsonObject, jsonEqual, setField } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';
import type { MergeRule } from '../patch/strategic-patch.ts';

/**
 * Which fields of an object a manager owns, in the form of `metadata.managedFields[].fieldsV1`: `f:NAME` a field, `k:{..}` an item of a list by
 * its key, `v:VALUE` an item of a set, `.` the thing itself. A node without children is set as a whole.
 */
export interface FieldSet {
  [step: string]: FieldSet;
}

/** Every field that is in `value`. Lists without a key are one field. */
export function fieldSetOf(value: unknown, rule: MergeRule = {}): FieldSet {
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

/** What is in `left` and not in `right`. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  const set: FieldSet = {};
  for (const [step, inner] of Object.entries(left)) {
    if (!Object.hasOwn(right, step)) setField(set, step, inner);
    else if (!isWhole(inner)) {
      const rest = difference(inner, right[step] ?? {});
      if (!isWhole(right[step] ?? {}) && Object.keys(rest).length > 0) setField(set, step, rest);
    }
  }
  return set;
}

/** `value` without the fields in `set`; lists by key lose the items whose `.` is in it. */
export function withoutFields(value: unknown, set: FieldSet, rule: MergeRule = {}): unknown {
  if (Array.isArray(value)) return value.flatMap((item) => withoutItem(item, set, rule));
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const [name, one] of Object.entries(value)) {
    const inner = Object.hasOwn(set, `f:${name}`) ? set[`f:${name}`] : undefined;
    if (inner === undefined) setField(kept, name, one);
    else if (!isWhole(inner)) setField(kept, name, withoutFields(one, inner, rule.fields?.[name]));
  }
  return kept;
}

function withoutItem(item: unknown, set: FieldSet, rule: MergeRule): unknown[] {
  const step = rule.mergeKey === undefined ? `v:${JSON.stringify(item)}` : itemStep(item, rule.mergeKey);
  const inner = Object.hasOwn(set, step) ? set[step] : undefined;
  if (inner === undefined) return [item];
  if (isWhole(inner) || Object.hasOwn(inner, '.')) return [];
  return [withoutFields(item, inner, itemRule(rule))];
}

/** Fields that both sets hold and whose values differ: `.data.a`, `.status.conditions[type="Ready"].status`. */
export function conflictingFields(
  ours: FieldSet,
  theirs: FieldSet,
  wanted: unknown,
  live: unknown,
  rule: MergeRule = {},
  path = '',
): string[] {
  const found: string[] = [];
  for (const [step, inner] of Object.entries(ours)) {
    if (step === '.' || !Object.hasOwn(theirs, step)) continue;
    const at = path + stepText(step);
    const [mine, current] = [child(wanted, step, rule), child(live, step, rule)];
    if (isWhole(inner) || isWhole(theirs[step] ?? {})) {
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

/** Lists are asked for one item after the other: each is walked once, not once for each of its items. */
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

function isWhole(set: FieldSet): boolean {
  return Object.keys(set).every((step) => step === '.');
}
