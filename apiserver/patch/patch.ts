import { unreachable } from '../../base/errors.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { PatchError } from './patch-error.ts';
import { applyStrategicPatch } from './strategic-patch.ts';
import type { MergeRule } from './strategic-patch.ts';

export { applyJsonPatch } from './json-patch.ts';
export { applyMergePatch, createMergePatch } from './merge-patch.ts';
export { PatchError } from './patch-error.ts';
export { applyStrategicPatch } from './strategic-patch.ts';
export type { MergeRule } from './strategic-patch.ts';
export { strategicRules } from './strategic-rules.ts';

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
