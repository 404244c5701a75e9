/** A value as JSON can carry it. */
export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `object[key]` where it is an own property; never an inherited one, so that a key like `constructor` finds nothing. */
export function ownField(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a field as JSON.parse would: a field called `__proto__` becomes data and never the prototype. */
export function setField(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Frames that a comparison may take; what is nested deeper is compared without them. */
const MAX_FRAMES = 200;

/** Whether two JSON values say the same, however deep they are. Order of fields does not count; a field that is undefined counts as absent. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  return equal(left, right, 0);
}

function equal(left: unknown, right: unknown, depth: number): boolean {
  if (Object.is(left, right) || left === right) return true;
  if (depth > MAX_FRAMES) return equalByParts(left, right);
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, index) => equal(item, right[index], depth + 1));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = definedKeys(left);
  return keys.length === definedKeys(right).length && keys.every((key) => equal(left[key], ownField(right, key), depth + 1));
}

/** The same with a list of what is still to be compared in the place of the stack. */
function equalByParts(left: unknown, right: unknown): boolean {
  const open: [unknown, unknown][] = [[left, right]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [a, b] = pair;
    if (Object.is(a, b) || a === b) continue;
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
      for (const [at, item] of a.entries()) open.push([item, b[at]]);
      continue;
    }
    if (!isJsonObject(a) || !isJsonObject(b)) return false;
    const keys = definedKeys(a);
    if (keys.length !== definedKeys(b).length) return false;
    for (const key of keys) open.push([a[key], ownField(b, key)]);
  }
  return true;
}

function definedKeys(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}

/** Whether lists and objects nest deeper than `levels`. Not recursive, so that it can check what would overflow the stack of other code. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item).filter(isContainer) : []));
  }
  return false;
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
