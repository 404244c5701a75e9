import { isDeeperThan } from '../../kube/api/json.ts';

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
export const MAX_RESULT_DEPTH = 1_000;

/** @throws {PatchError} when what a patch has made is nested deeper than {@link MAX_RESULT_DEPTH} levels */
export function checkResult(result: unknown): void {
  if (isDeeperThan(result, MAX_RESULT_DEPTH))
    throw new PatchError('inapplicable', `the patched object is nested deeper than ${MAX_RESULT_DEPTH} levels`);
}

/** @throws {PatchError} when `patch` is nested deeper than {@link MAX_PATCH_DEPTH} levels */
export function checkDepth(patch: unknown): void {
  if (isDeeperThan(patch, MAX_PATCH_DEPTH)) throw new PatchError('malformed', `the patch is nested deeper than ${MAX_PATCH_DEPTH} levels`);
}
