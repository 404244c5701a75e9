import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { ClaimPlan } from '../../kube/controller/claim-plan.ts';
import { claim, type Claimer } from '../../kube/controller/claim.ts';

/** Whose claims, and who is told of what was written for them. */
export interface SetClaims extends Pick<Claimer, 'client' | 'owner' | 'ownerKind'> {
  wrote: (resource: Resource, object: KubeObject) => void;
}

/** Adopts and releases what the plan says, of one kind. @throws what failed: nothing may be decided then */
export async function executeClaims<T extends KubeObject>(
  { wrote, ...by }: SetClaims,
  kind: Resource,
  plan: ClaimPlan<T>,
  signal: AbortSignal,
): Promise<void> {
  if (plan.adopt.length === 0 && plan.release.length === 0) return;
  // What is kept need not be asked for.
  await claim({ ...by, kind, wrote: (object) => wrote(kind, object) }, { ...plan, keep: [] }, signal);
}
