import { isJsonObject, ownField, setField, isDeeperThan } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';

/**
 * A patch that cannot be applied. `malformed`: no object would take it (the API answers 400);
 * `inapplicable`: this object does not (a failed test, a missing path; the API answers 422).
 */
export class PatchError extends Error {
  override name = 'PatchError';
  readonly problem: 'malformed' | 'inapplicable';
  constructor(problem: 'malformed' | 'inapplicable', message: string) {
    super(message);
    this.problem = problem;
  }
}

/** Deeper patches are refused: each level costs a stack frame, and no Kubernetes object comes near. */
export const MAX_PATCH_DEPTH = 500;

/** Many patches, or the operations of one, may nest an object deeper and deeper. */
const MAX_RESULT_DEPTH = 1_000;

/** @throws {PatchError} when what a patch has made is nested deeper than {@link MAX_RESULT_DEPTH} levels */
export function checkResult(result: unknown): void {
  if (isDeeperThan(result, MAX_RESULT_DEPTH))
    throw new PatchError('inapplicable', `the patched object is nested deeper than ${MAX_RESULT_DEPTH} levels`);
}

/** @throws {PatchError} when `patch` is nested deeper than {@link MAX_PATCH_DEPTH} levels */
export function checkDepth(patch: unknown): void {
  if (isDeeperThan(patch, MAX_PATCH_DEPTH)) throw new PatchError('malformed', `the patch is nested deeper than ${MAX_PATCH_DEPTH} levels`);
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
