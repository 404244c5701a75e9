import type { OwnerReference } from '../../kube/api/object.ts';
import { pods, statefulSets } from '../../kube/api/resources.ts';
import { controllerRef } from '../../kube/controller/owner-refs.ts';
import { claimName, refersTo } from './places.ts';
import type { Rules } from './rules.ts';
import type { PvcLookup } from './storage.ts';
import type { Pvc } from './types.ts';

/** Whose claims they are. */
export interface Holder {
  podName: string;
  /** undefined: the pod is still to be made. */
  podUid: string | undefined;
  ordinal: number;
  /** There is no place for the pod (any more). */
  condemned: boolean;
}

export interface RetentionPlan {
  /** Whole objects, of the version that was looked at. */
  write: Pvc[];
  /** Names of claims that somebody else looks after: the policy is ignored for them. They stay so until a person changes that. */
  conflicting: string[];
}

/**
 * Who owns the claims of a pod. No claim is ever deleted here: its owners are written, and the garbage collector removes what has lost them.
 *
 * | whenScaled | whenDeleted | pod has a place | pod is condemned |
 * | --- | --- | --- | --- |
 * | Retain | Retain | nobody | nobody |
 * | Retain | Delete | the set | the set |
 * | Delete | Retain | nobody | the pod |
 * | Delete | Delete | the set | the pod |
 *
 * | the claim | what |
 * | --- | --- |
 * | is missing | nothing |
 * | has another set or pod of that name, which is gone | nothing: it may go with that one |
 * | has a controller that is neither, and the policy does not retain all | set and pod are taken away; conflicting |
 * | has the right one, and not as its controller | is written again |
 * | has other owners | they stay |
 *
 * @throws {TypeError} for a set without name or UID
 */
export function planRetention(rules: Rules, holder: Holder, lookup: PvcLookup): RetentionPlan {
  const plan: RetentionPlan = { write: [], conflicting: [] };
  const { podName: name, podUid: uid, condemned, ordinal } = holder;
  // Nobody is condemned before it is made: what should own the claim cannot be named.
  if (condemned && uid === undefined) return plan;
  // An annotation that cannot be read may be the one that gives this pod its place: its claims must not go with it by mistake.
  if (condemned && rules.optIns.problems.length > 0) return plan;
  const set = controllerRef(rules.set, statefulSets);
  const pod = controllerRef({ metadata: { name, uid: uid ?? NOBODY } }, pods);
  const owner = { set, pod, nobody: undefined }[ownerOf(rules, condemned)];
  for (const template of rules.claimTemplates) {
    const pvc = lookup(claimName(template.metadata.name ?? '', rules.name, ordinal));
    if (pvc === undefined) continue;
    const refs = pvc.metadata.ownerReferences ?? [];
    if (refs.some((ref) => [set, pod].some((named) => refersTo(ref, named) && ref.uid !== named.uid))) continue;
    const others = refs.filter(({ uid }) => uid !== set.uid && uid !== pod.uid);
    const conflicts = !retainsAll(rules) && others.some(({ controller }) => controller === true);
    if (conflicts) plan.conflicting.push(pvc.metadata.name ?? '');
    const wanted = conflicts ? undefined : owner;
    if (!isRight(refs, others, wanted)) plan.write.push(ownedBy(pvc, wanted === undefined ? others : [...others, wanted]));
  }
  return plan;
}

/** No UID of anything: all that names the pod means an earlier one. */
const NOBODY = '-';

function ownerOf({ retention }: Rules, condemned: boolean): 'set' | 'pod' | 'nobody' {
  if (condemned && retention.whenScaled === 'Delete') return 'pod';
  return retention.whenDeleted === 'Delete' ? 'set' : 'nobody';
}

function retainsAll({ retention: { whenDeleted, whenScaled } }: Rules): boolean {
  return whenDeleted === 'Retain' && whenScaled === 'Retain';
}

/** Whether it has the wanted one once and as its controller, and not the other. Whether it blocks deletion is left as others wrote it. */
function isRight(refs: readonly OwnerReference[], others: readonly OwnerReference[], wanted: OwnerReference | undefined): boolean {
  const ours = refs.length - others.length;
  if (wanted === undefined) return ours === 0;
  return ours === 1 && refs.some((ref) => refersTo(ref, wanted) && ref.controller === true);
}

function ownedBy(pvc: Readonly<Pvc>, owners: readonly OwnerReference[]): Pvc {
  const { ownerReferences: _, ...metadata } = pvc.metadata;
  return { ...pvc, metadata: owners.length === 0 ? metadata : { ...metadata, ownerReferences: [...owners] } };
}
