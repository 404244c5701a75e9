/** A value as JSON can carry it. */
export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `object[key]` where it is a field of its own; never something inherited, so that a key like `constructor` finds nothing. */
export function ownField(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a field as JSON.parse would: a field called `__proto__` becomes data and never the prototype. */
export function setField(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Whether two JSON values say the same. Order of fields does not count; a field that is undefined counts as absent. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right) || left === right) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, index) => jsonEqual(item, right[index]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  return (
    definedKeys(left).length === definedKeys(right).length && definedKeys(left).every((key) => jsonEqual(left[key], ownField(right, key)))
  );
}

function definedKeys(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}

/** Whether lists and objects nest deeper than `levels`. Needs no stack, so that it can judge what would overflow everybody else's. */
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
