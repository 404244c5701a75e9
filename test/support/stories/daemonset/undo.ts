import assert from 'node:assert/strict';
import type { Stage } from './stage.ts';

/** As `kubectl rollout undo --to-revision=N` does: the revision's data is a patch of the set. */
export async function retemplated(s: Stage, revision: number): Promise<void> {
  const found = s.revisions().find((one) => one.revision === revision);
  assert.ok(found, `there is no revision ${revision}`);
  await s.patch(found.data);
}
