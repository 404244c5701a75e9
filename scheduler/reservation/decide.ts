import type { OwnerReference } from '../../kube/api/object.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { ReservationConfig } from '../config/config.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { DaemonSet, StatefulSet, ControllerRevision } from '../types.ts';
import type { Decision, DeletionFacts, Purpose, NotReservedReason } from './contract.ts';
import { pinnedTo } from './reservation-index.ts';
import { whyNotOnNode, whySetMakesNone, placeInSet } from './lifetime.ts';

/** Label of pods that names their revision. */
const HASH_LABEL = 'controller-revision-hash';
const STATEFUL_SET = 'apps/StatefulSet';
const DAEMON_SET = 'apps/DaemonSet';
/** Kinds whose pods have new names each time, and may be created before the old ones are deleted. */
const never: ReadonlySet<string> = new Set(['apps/ReplicaSet', 'apps/Deployment', DAEMON_SET, 'batch/Job', 'ReplicationController']);

export interface DecisionRules extends Pick<ReservationConfig, 'enabled' | 'reserveOn' | 'ownerKinds' | 'daemonSets'> {
  /** Whether this scheduler schedules pods with this scheduler name. */
  readonly isOwnScheduler: (schedulerName: string) => boolean;
}

/** Why the pod is replaced, as far as its owner shows. */
interface Replacement {
  purpose: Purpose;
  why: string;
}

/**
 * Whether a pod that was deleted from its node is replaced by its own successor. Also called for a terminating pod; that result may still change.
 *
 * For owners whose objects are not read (kinds added to `ownerKinds`) every deletion of a pod counts as an upgrade after which a pod of the same name is
 * created. Where that is wrong, as when such a set is scaled down, the reservation stays until it expires.
 */
export function decide(facts: DeletionFacts, rules: DecisionRules): Decision {
  const { pod, node } = facts;
  if (!rules.enabled) return no('disabled', 'reservation.enabled is false');
  const owner = controllerOf(pod.pod);
  if (owner === undefined) return no('owner', 'the pod has no controller that would create a successor');
  const kind = kindOf(owner);
  const isDaemon = kind === DAEMON_SET && rules.daemonSets;
  if (!isDaemon && (never.has(kind) || !rules.ownerKinds.has(kind))) return no('owner', `nothing is reserved for pods of a ${kind}`);
  const ended = whyNotDeletedForSuccessor(facts);
  if (ended !== undefined) return ended;
  const unwanted = isDaemon ? whyNoDaemon(facts, owner, rules) : whyNoMember(facts, owner, kind, rules);
  if (unwanted !== undefined) return unwanted;
  const barred = whyNotOnNode(pod.nodeName, node, pod.pod.spec, false);
  if (barred !== undefined) return no('node', barred);
  const { purpose, why } = replacementOf(facts);
  if (purpose === 'recreate' && rules.reserveOn === 'upgrade')
    return no('revision', `${why}; only upgrades get a reservation (reservation.reserveOn)`);
  return { keep: true, purpose, why };
}

/** `apps/StatefulSet`; only the kind for the core group. The version does not count. */
export function kindOf({ apiVersion, kind }: Pick<OwnerReference, 'apiVersion' | 'kind'>): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? kind : `${apiVersion.slice(0, slash)}/${kind}`;
}

function whyNotDeletedForSuccessor({ pod, isVictim }: DeletionFacts): Decision | undefined {
  const { phase, conditions } = pod.pod.status ?? {};
  if (pod.nodeName === '') return no('ended', 'the pod was not on a node');
  if (phase === 'Failed' || phase === 'Succeeded')
    return no('ended', `the pod had ended before (${phase}): its resources were free already`);
  if (isVictim === true) return no('disrupted', 'the pod was preempted');
  const disruption = conditions?.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True');
  return disruption && no('disrupted', `the pod was removed from its node (DisruptionTarget: ${disruption.reason ?? 'no reason given'})`);
}

function whyNoMember(
  { pod, set }: DeletionFacts,
  owner: OwnerReference,
  kind: string,
  { isOwnScheduler }: DecisionRules,
): Decision | undefined {
  if (set === undefined && kind !== STATEFUL_SET) {
    return isOwnScheduler(pod.schedulerName) ? undefined : no('set', `${kind} ${owner.name} uses scheduler ${pod.schedulerName}`);
  }
  if (set !== undefined && set.metadata.uid !== owner.uid)
    return no('set', `${owner.kind} ${owner.name} was created again under that name`);
  const why = whySetMakesNone(set, owner, pod.name, isOwnScheduler);
  if (why === undefined) return undefined;
  return no(set !== undefined && !placeInSet(set, pod.name).wanted ? 'place' : 'set', why);
}

function whyNoDaemon(
  { pod, daemonSet, otherOnNode }: DeletionFacts,
  owner: OwnerReference,
  { isOwnScheduler }: DecisionRules,
): Decision | undefined {
  if (daemonSet !== undefined && daemonSet.metadata.uid !== owner.uid)
    return no('set', `DaemonSet ${owner.name} was created again under that name`);
  const why = whySetMakesNone(daemonSet, owner, pod.name, isOwnScheduler);
  if (why !== undefined) return no('set', why);
  if (surges(daemonSet)) return no('set', `DaemonSet ${owner.name} creates the successor before it deletes the old pod (maxSurge)`);
  // Created while the set had maxSurge, which may have been removed before the old pod was deleted.
  if (otherOnNode !== undefined) return no('place', `its successor ${otherOnNode} is on the node already`);
  if (pinnedTo(pod) !== pod.nodeName) return no('place', 'the pod is not pinned to its node, nor would its successor be');
  return undefined;
}

function surges(daemonSet: Readonly<DaemonSet> | undefined): boolean {
  const surge = daemonSet?.spec?.updateStrategy?.rollingUpdate?.maxSurge ?? 0;
  return Number.parseInt(String(surge), 10) > 0;
}

function replacementOf(facts: DeletionFacts): Replacement {
  const { pod, unseen, set, daemonSet } = facts;
  const { deletionTimestamp } = pod.pod.metadata;
  // The watch excludes finished pods: such a pod appears as deleted, without deletionTimestamp. But a pod with a grace period of 0 never shows one.
  if (deletionTimestamp === undefined && !unseen && pod.pod.spec?.terminationGracePeriodSeconds !== 0)
    return { purpose: 'recreate', why: 'the pod was not deleted by a client: it terminated, or its node evicted it' };
  if (facts.begunFor !== undefined) return { purpose: 'upgrade', why: facts.begunFor };
  if (daemonSet !== undefined) return ofDaemon(facts, daemonSet);
  return set === undefined ? { purpose: 'upgrade', why: 'the pod was deleted; its owner is not known' } : ofMember(facts, set);
}

/**
 * A set's first old pod may be deleted before the set's status shows the update revision: the new generation and the new ControllerRevision are seen earlier.
 * Below the partition, pods are created again with the current revision, whatever the newest is.
 */
function ofMember({ pod, newestRevision }: DeletionFacts, set: Readonly<StatefulSet>): Replacement {
  const hash = revisionOf(pod);
  const { currentRevision = '', updateRevision = '' } = set.status ?? {};
  const place = placeInSet(set, pod.name);
  const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {};
  const partition = type === 'RollingUpdate' ? (rollingUpdate?.partition ?? 0) : 0;
  if (place.wanted && place.index < partition && currentRevision !== '') {
    if (hash === currentRevision) return { purpose: 'recreate', why: `the partition keeps the pod at revision ${currentRevision}` };
    return { purpose: 'upgrade', why: `the pod is of revision ${hash}, and the partition wants it at ${currentRevision}` };
  }
  if (hash !== updateRevision && updateRevision !== '')
    return { purpose: 'upgrade', why: `the pod is of revision ${hash}, and the set is being updated to ${updateRevision}` };
  return unlessUpdating(set, hash, newestRevision);
}

function ofDaemon({ pod, newestRevision }: DeletionFacts, daemonSet: Readonly<DaemonSet>): Replacement {
  return unlessUpdating(daemonSet, revisionOf(pod), newestRevision);
}

/** Detects an update that the status does not show yet. */
function unlessUpdating(
  { metadata, status }: Readonly<StatefulSet> | Readonly<DaemonSet>,
  hash: string,
  newest: string | undefined,
): Replacement {
  const { generation = 0 } = metadata;
  if (generation > (status?.observedGeneration ?? 0))
    return { purpose: 'upgrade', why: `the set was changed (generation ${generation}), which its status does not show yet` };
  if (newest !== undefined && newest !== hash)
    return { purpose: 'upgrade', why: `the pod is of revision ${hash}, and the newest is ${newest}` };
  return { purpose: 'recreate', why: `the pod is created again with the same revision (${hash})` };
}

function revisionOf({ labels }: PodInfo): string {
  return labels[HASH_LABEL] ?? 'none';
}

function no(because: NotReservedReason, why: string): Decision {
  return { keep: false, because, why };
}

/**
 * Label `controller-revision-hash` of pods of the owner's newest revision: for a StatefulSet the revision's name, for a DaemonSet the revision's own label of
 * that name. A rollback makes the revision of the old template the newest.
 * @param revisions - those of the owner and of others, in any order
 */
export function newestRevision(
  revisions: readonly Readonly<ControllerRevision>[],
  owner: { readonly kind: string; readonly uid: string },
): string | undefined {
  let newest: Readonly<ControllerRevision> | undefined;
  for (const revision of revisions)
    if (controllerOf(revision)?.uid === owner.uid && (newest === undefined || revision.revision > newest.revision)) newest = revision;
  return owner.kind === 'DaemonSet' ? newest?.metadata.labels?.['controller-revision-hash'] : newest?.metadata.name;
}
