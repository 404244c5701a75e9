import type { Json, JsonObject } from './contract.ts';
import { isObject, own, setKey } from './document.ts';

/**
 * `dynamic` as a JSON merge patch (RFC 7386) over `local`: objects merge key by key, lists replace, null removes (the field then takes
 * its default). Keys of `local` come first, in its order.
 */
export function mergeOverlay(local: JsonObject, dynamic: JsonObject): JsonObject {
  return patched(local, dynamic) as JsonObject;
}

function patched(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const base = isObject(target) ? target : {};
  const made: Record<string, Json> = {};
  for (const [key, value] of Object.entries(base)) if (own(patch, key) !== null) setKey(made, key, value);
  for (const [key, value] of Object.entries(patch)) if (value !== null) setKey(made, key, patched(own(base, key), value));
  return made;
}

/** A copy of `object` with `value` at a path of names; objects on the way are copied or made. */
export function withValue(object: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [first, ...rest] = path;
  if (first === undefined) return object;
  const made: Record<string, Json> = {};
  for (const [key, old] of Object.entries(object)) setKey(made, key, old);
  const old = own(object, first);
  setKey(made, first, rest.length === 0 ? value : withValue(isObject(old) ? old : {}, rest, value));
  return made;
}
