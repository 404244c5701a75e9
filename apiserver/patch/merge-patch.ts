import { isJsonObject, jsonEqual, ownField, setField } from '../../kube/api/json.ts';
import { checkDepth } from './patch-error.ts';
import type { JsonObject } from '../../kube/api/json.ts';

/**
 * RFC 7386: fields of `patch` replace those of `target`, null removes, objects merge, everything else (lists too) is replaced whole.
 * Neither argument is changed; the result may share parts with both.
 * @throws {PatchError} when the patch is nested too deep
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  checkDepth(patch);
  return merge(target, patch);
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (value !== undefined) setField(result, key, merge(ownField(result, key), value));
  }
  return result;
}

/**
 * The smallest RFC 7386 patch that turns `from` into `to`; `{}` when they say the same.
 * A merge patch cannot write null: a null (or undefined) in `to` counts as absent.
 */
export function createMergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const key of Object.keys(from)) {
    if (isAbsent(ownField(to, key)) && !isAbsent(from[key])) setField(patch, key, null);
  }
  for (const [key, wanted] of Object.entries(to)) {
    const had = ownField(from, key);
    if (isAbsent(wanted) || jsonEqual(had, wanted)) continue;
    if (!isJsonObject(had) || !isJsonObject(wanted)) {
      setField(patch, key, isJsonObject(wanted) ? createMergePatch({}, wanted) : wanted);
      continue;
    }
    const inner = createMergePatch(had, wanted);
    if (Object.keys(inner).length > 0) setField(patch, key, inner);
  }
  return patch;
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}
