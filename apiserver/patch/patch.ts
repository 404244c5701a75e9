import { unreachable } from '../../base/errors.ts';
import { applyJsonPatch } from './json-patch.ts';
import { PatchError, checkDepth } from './patch-error.ts';
import { applyStrategicPatch } from './strategic-patch.ts';
import { isJsonObject, ownField, setField } from '../../kube/api/json.ts';
import type { MergeRule } from './strategic-patch.ts';
import type { JsonObject } from '../../kube/api/json.ts';

export { applyStrategicPatch, strategicRules } from './strategic-patch.ts';
export type { MergeRule } from './strategic-patch.ts';

export { applyJsonPatch } from './json-patch.ts';
export { PatchError } from './patch-error.ts';

/** The patches that an object alone decides; server-side apply also needs to know who owns which field. */
export type ObjectPatchType = 'json' | 'merge' | 'strategic';

/**
 * `target` with `patch` applied. Neither is changed; the result may share parts with both.
 * @param rule - for strategic patches, {@link strategicRules} of the kind
 * @throws {PatchError} `malformed` (400) or `inapplicable` (422)
 */
export function applyPatch(type: ObjectPatchType, target: unknown, patch: unknown, rule?: MergeRule): unknown {
  switch (type) {
    case 'json':
      return applyJsonPatch(target, patch);
    case 'merge':
      if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
        throw new PatchError('malformed', 'a merge patch of an API object is an object');
      }
      return applyMergePatch(target, patch);
    case 'strategic':
      return applyStrategicPatch(target, patch, rule);
    default:
      return unreachable(type);
  }
}

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
