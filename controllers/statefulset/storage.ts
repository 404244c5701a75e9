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

/** What must happen to claims before a pod can be made, or can start. */
export interface StoragePlan {
  create: Pvc[];
  /** Names of claims that are being deleted: what has them cannot be made, `pvc NAME is being deleted`. */
  terminating: string[];
}

/**
 * The claims of the pod with this ordinal, as they are made when they are missing: copies of the templates, found by what finds the pods. They have no
 * owner: who else owns them is the retention policy's to say. Their specs belong to the set: copy to change.
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
 * Whether a claim is about to go with an earlier pod of this name: a new one would start with storage that is then taken from it. The garbage collector
 * deletes the claim, so no one has to act.
 * @param pod - the one that is there; undefined for one to be made
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

/** Whether the pod is who it should be. Host name, subdomain and the label with its index are not looked at. */
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

/** The volumes of a pod: those of its claims take the place of others with their names. */
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
 * The pod as it should be, to be written whole. Volumes are touched only where they are wrong: a server takes no other order of them either, and refuses
 * what is wrong there in any case.
 */
export function repaired(rules: Rules, pod: Readonly<Pod>, ordinal: number): Pod {
  const name = nameOf(rules.name, ordinal);
  const { metadata, spec } = pod;
  const labels = { ...metadata.labels, [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinal) };
  const named: Pod = { ...pod, metadata: { ...metadata, name, namespace: rules.namespace, labels } };
  if (hasStorage(rules, pod, ordinal)) return named;
  return { ...named, spec: { containers: [], ...spec, volumes: volumesOf(rules, ordinal, spec?.volumes) } };
}

/** Whose claims they are. */
interface Holder {
  podName: string;
  /** undefined: the pod is still to be made. */
  podUid: string | undefined;
  ordinal: number;
  /** There is no place for the pod (any more). */
  condemned: boolean;
}

interface RetentionPlan {
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

/** Whom a reference names, whichever of that name it is. */
type Named = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>;

function refersTo(ref: Named, { apiVersion, kind, name }: Named): boolean {
  return ref.apiVersion === apiVersion && ref.kind === kind && ref.name === name;
}
