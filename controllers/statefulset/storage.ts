import { identityOf } from '../../kube/api/ordinals.ts';
import { POD_INDEX_LABEL, POD_NAME_LABEL, podName as nameOf } from './places.ts';
import type { Rules } from './rules.ts';
import type { Pod, Pvc } from '../common/types.ts';
import { type OwnerReference, pods, statefulSets } from '../../kube/api/object.ts';
import { controllerRef } from '../../kube/controller/owners.ts';

/** A claim of the set's namespace, by name. */
type PvcLookup = (name: string) => Readonly<Pvc> | undefined;
type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/** @param template - name of the claim template */
function claimName(template: string, set: string, ordinal: number): string {
  return `${template}-${set}-${ordinal}`;
}

/** What must happen to claims before a pod can be created, or can start. */
export interface StoragePlan {
  create: Pvc[];
  /** Names of claims that are being deleted: a pod with such a claim cannot be created, `pvc NAME is being deleted`. */
  terminating: string[];
}

/**
 * The claims to create for the pod with this ordinal: copies of the templates, with the labels of the selector. Without owners, which the retention
 * policy decides. The specs are shared with the set: copy before changing them.
 */
export function pvcsOf(rules: Rules, ordinal: number): Pvc[] {
  return rules.claimTemplates.map(({ metadata, spec }) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(metadata.name ?? '', rules.name, ordinal),
      namespace: rules.namespace,
      labels: { ...metadata.labels, ...rules.matchLabels },
      ...(metadata.annotations === undefined ? {} : { annotations: { ...metadata.annotations } }),
      ...(metadata.finalizers === undefined ? {} : { finalizers: [...metadata.finalizers] }),
    },
    ...(spec === undefined ? {} : { spec }),
  }));
}

/** A claim that exists is used as it is: its size, class and modes are not compared, as upstream. */
export function planStorage(rules: Rules, ordinal: number, lookup: PvcLookup): StoragePlan {
  const plan: StoragePlan = { create: [], terminating: [] };
  for (const pvc of pvcsOf(rules, ordinal)) {
    const { name = '' } = pvc.metadata;
    const found = lookup(name);
    if (found === undefined) plan.create.push(pvc);
    else if (found.metadata.deletionTimestamp !== undefined) plan.terminating.push(name);
  }
  return plan;
}

/**
 * Whether a claim is about to be deleted with an earlier pod of this name: a new pod would start with storage that it then loses. The garbage collector
 * deletes the claim; the controller only waits.
 * @param pod - the existing pod; undefined for a pod to be created
 */
export function isStale(rules: Rules, pod: Readonly<Pod> | undefined, ordinal: number, lookup: PvcLookup): boolean {
  if (rules.retention.whenScaled !== 'Delete') return false;
  const wanted = { apiVersion: 'v1', kind: 'Pod', name: nameOf(rules.name, ordinal) };
  return rules.claimTemplates.some(({ metadata }) =>
    lookup(claimName(metadata.name ?? '', rules.name, ordinal))?.metadata.ownerReferences?.some(
      (ref) => refersTo(ref, wanted) && ref.uid !== pod?.metadata.uid,
    ),
  );
}

/** Whether name, namespace and name label of the pod are right. Host name, subdomain and index label are not checked. */
export function hasIdentity(pod: Readonly<Pod>, rules: Rules): boolean {
  const { name = '', namespace, labels } = pod.metadata;
  return identityOf(name)?.parent === rules.name && namespace === rules.namespace && labels?.[POD_NAME_LABEL] === name;
}

/** Whether each claim template is a volume of the pod, with the pod's own claim. */
export function hasStorage(rules: Rules, pod: Readonly<Pod>, ordinal: number): boolean {
  const { claimTemplates } = rules;
  const volumes = pod.spec?.volumes ?? [];
  const many = claimTemplates.length > 4 ? new Map(volumes.toReversed().map((volume) => [volume.name, volume])) : undefined;
  return claimTemplates.every(({ metadata: { name = '' } }) => {
    const volume = many === undefined ? volumes.find((one) => one.name === name) : many.get(name);
    return volume?.persistentVolumeClaim?.claimName === claimName(name, rules.name, ordinal);
  });
}

/** The volumes of a pod: volumes of its claims replace others of the same name. */
export function volumesOf(rules: Rules, ordinal: number, volumes: readonly Volume[] = []): Volume[] {
  const claimed = new Map(
    rules.claimTemplates.map(({ metadata: { name = '' } }): [string, Volume] => [
      name,
      { name, persistentVolumeClaim: { claimName: claimName(name, rules.name, ordinal) } },
    ]),
  );
  const others = volumes.filter(({ name }) => !claimed.has(name));
  return [...claimed.values(), ...others];
}

/**
 * The pod with the right labels and volumes. Right volumes are not touched, because the API server rejects any change of volumes, even of their order;
 * so it also rejects the correction of wrong ones.
 */
export function repaired(rules: Rules, pod: Readonly<Pod>, ordinal: number): Pod {
  const name = nameOf(rules.name, ordinal);
  const { metadata, spec } = pod;
  const labels = { ...metadata.labels, [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinal) };
  const named: Pod = { ...pod, metadata: { ...metadata, name, namespace: rules.namespace, labels } };
  if (hasStorage(rules, pod, ordinal)) return named;
  return { ...named, spec: { containers: [], ...spec, volumes: volumesOf(rules, ordinal, spec?.volumes) } };
}

/** The pod that the claims are for. */
interface Holder {
  podName: string;
  /** undefined: the pod is still to be created. */
  podUid: string | undefined;
  ordinal: number;
  /** The pod has no place (any more). */
  condemned: boolean;
}

interface RetentionPlan {
  /** Whole objects, with the resourceVersion of the cache. */
  write: Pvc[];
  /** Names of claims with another controller: the policy is ignored for them until a user changes that. */
  conflicting: string[];
}

/**
 * Plans the owners of a pod's claims. Never deletes a claim: only the owners are written, and the garbage collector deletes claims whose owners are gone.
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
 * | is owned by a former set or pod of that name | nothing: the claim may be deleted with that owner |
 * | has a controller that is neither, and the policy does not retain all | remove set and pod as owners; conflicting |
 * | has the right owner, and not as its controller | write it again |
 * | has other owners | keep them |
 *
 * @throws {TypeError} for a set without name or UID
 */
export function planRetention(rules: Rules, holder: Holder, lookup: PvcLookup): RetentionPlan {
  const plan: RetentionPlan = { write: [], conflicting: [] };
  const { podName: name, podUid: uid, condemned, ordinal } = holder;
  // A pod that does not exist cannot be condemned, and without its UID it cannot own a claim.
  if (condemned && uid === undefined) return plan;
  // An invalid annotation may be the one that gives this pod its place: its claims must not be deleted with the pod by mistake.
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

/** Equals no UID, so that any reference to the pod's name is to an earlier pod. */
const NOBODY = '-';

function ownerOf({ retention }: Rules, condemned: boolean): 'set' | 'pod' | 'nobody' {
  if (condemned && retention.whenScaled === 'Delete') return 'pod';
  return retention.whenDeleted === 'Delete' ? 'set' : 'nobody';
}

function retainsAll({ retention: { whenDeleted, whenScaled } }: Rules): boolean {
  return whenDeleted === 'Retain' && whenScaled === 'Retain';
}

/** Whether `refs` has the wanted owner once and as controller, and not the other of set and pod. blockOwnerDeletion is not compared. */
function isRight(refs: readonly OwnerReference[], others: readonly OwnerReference[], wanted: OwnerReference | undefined): boolean {
  const ours = refs.length - others.length;
  if (wanted === undefined) return ours === 0;
  return ours === 1 && refs.some((ref) => refersTo(ref, wanted) && ref.controller === true);
}

function ownedBy(pvc: Readonly<Pvc>, owners: readonly OwnerReference[]): Pvc {
  const { ownerReferences: _, ...metadata } = pvc.metadata;
  return { ...pvc, metadata: owners.length === 0 ? metadata : { ...metadata, ownerReferences: [...owners] } };
}

/** What a reference names, whatever the UID. */
type Named = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>;

function refersTo(ref: Named, { apiVersion, kind, name }: Named): boolean {
  return ref.apiVersion === apiVersion && ref.kind === kind && ref.name === name;
}
