import { posix } from 'node:path';
import type { Json, JsonObject, KubeletVersion } from './contract.ts';
import { isObject, own, setKey } from './decode/document.ts';
import { valueAt } from './defaults.ts';
import { schemaFor } from './fields/schema.ts';

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

/** A value and where it goes, a path of names. */
export interface Placed {
  readonly path: readonly string[];
  readonly value: Json;
}

/** A copy of `object` with values at their places; objects on the way are copied or made, each once however many values go into it. */
export function withValues(object: JsonObject, values: Iterable<Placed>): JsonObject {
  const copies = new WeakSet<JsonObject>();
  const copyOf = (old: JsonObject): Record<string, Json> => {
    if (copies.has(old)) return old;
    const copy = { ...old }; // unlike an assignment, this takes a key __proto__ over as it is
    copies.add(copy);
    return copy;
  };
  const root = copyOf(object);
  for (const { path, value } of values) {
    let at = root;
    for (const step of path.slice(0, -1)) {
      const old = own(at, step);
      const inner = copyOf(isObject(old) ? old : {});
      setKey(at, step, inner);
      at = inner;
    }
    const last = path.at(-1);
    if (last !== undefined) setKey(at, last, value);
  }
  return root;
}

/**
 * `written` with the relative paths that a kubelet of `version` resolves made absolute, against `dir`; absolute and empty ones stay.
 * @param dir - absolute directory of the file that `written` was read from
 */
export function resolvePaths(written: JsonObject, dir: string, version: KubeletVersion): JsonObject {
  const absolute = schemaFor(version.minor).leaves.flatMap(({ field, known, path }) => {
    if (field.path !== true || !known) return [];
    const value = valueAt(written, path);
    return typeof value === 'string' && value !== '' && !posix.isAbsolute(value) ? [{ path, value: posix.join(dir, value) }] : [];
  });
  return absolute.length === 0 ? written : withValues(written, absolute);
}
