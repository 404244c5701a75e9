import type { FieldClass, Json, JsonObject } from '../contract.ts';
import { valueAt } from '../defaults.ts';
import { isList, isObject, join, own } from '../decode/document.ts';
import { type Place, schemaFor } from '../fields/fields.ts';
import { NEWEST_MINOR } from '../version.ts';

export interface Difference {
  field: string;
  class: FieldClass;
  /** null when absent. Values of secret fields are masked. */
  from: Json;
  to: Json;
}

/**
 * Where two configurations differ, by the leaves of the field table; feature gates one by one, other maps and lists as a whole, which is what a
 * policy names. With `byKey` every map is compared key by key, which is what people look for. A field that the table does not have counts as dangerous. Null and absent are the same. Give both defaulted to compare effects,
 * or both as written to compare texts.
 */
export function compareConfigs(a: JsonObject, b: JsonObject, { byKey = false } = {}): Difference[] {
  const found: Difference[] = [];
  const { leaves, root } = schemaFor(NEWEST_MINOR);
  for (const { field, path } of leaves) {
    const [from, to] = [valueAt(a, path) ?? null, valueAt(b, path) ?? null];
    if (sameJson(from, to)) continue;
    const keys = byKey || field.name === 'featureGates' ? differentKeys(from, to) : [];
    const shown = (value: Json): Json => (field.secret === true ? masked(value) : value);
    if (keys.length > 0)
      for (const { key, ...sides } of keys)
        found.push({ field: `${field.name}.${key}`, class: field.class, from: shown(sides.from), to: shown(sides.to) });
    else if (field.name === 'featureGates' && isMap(from) && isMap(to)) continue;
    else if (field.secret === true) found.push({ field: field.name, class: field.class, from: masked(from), to: masked(to) });
    else found.push({ field: field.name, class: field.class, from, to });
  }
  unknowns(a, b, root, '', found);
  return found;
}

const isMap = (value: Json): value is JsonObject | null => value === null || isObject(value);

/** The keys whose values differ, where both are maps or absent; none where they are not. */
function differentKeys(from: Json, to: Json): { key: string; from: Json; to: Json }[] {
  if (!isMap(from) || !isMap(to)) return [];
  return [...new Set([...Object.keys(from ?? {}), ...Object.keys(to ?? {})])]
    .map((key) => ({ key, from: own(from ?? {}, key) ?? null, to: own(to ?? {}, key) ?? null }))
    .filter((one) => !sameJson(one.from, one.to));
}

function unknowns(a: JsonObject, b: JsonObject, places: ReadonlyMap<string, Place>, path: string, found: Difference[]): void {
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const place = places.get(key);
    const [from, to] = [own(a, key) ?? null, own(b, key) ?? null];
    if (place?.kind === 'struct') {
      const [inA, inB] = [isObject(from) ? from : {}, isObject(to) ? to : {}];
      unknowns(inA, inB, place.members, join(path, key), found);
    } else if (place === undefined && !(path === '' && (key === 'apiVersion' || key === 'kind')) && !sameJson(from, to)) {
      found.push({ field: join(path, key), class: 'dangerous', from, to });
    }
  }
}

/** Keys stay, values become `***`. */
function masked(value: Json): Json {
  if (isObject(value)) return Object.fromEntries(Object.keys(value).map((key) => [key, '***']));
  return value === null ? null : '***';
}

/** A value fit for an admin's screen: that of a secret field masked. */
export function shownValue(value: Json, secret: boolean): Json {
  return secret ? masked(value) : value;
}

/** Equal JSON; the order of keys does not matter, and 1 is 1 as number and as bigint. */
export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint') return typeof b === 'number' && BigInt(Math.trunc(b)) === a;
  if (typeof b === 'bigint') return sameJson(b, a);
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, index) => sameJson(item, b[index] ?? null));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] as Json, b[key] as Json));
}
