import type { Clock, Millis } from '../../base/clock.ts';
import { type Informer, objectKey } from '../../kube/cache/contract.ts';
import { BY_OWNER, byOwner, ownedOrOrphaned, controllerOf } from '../../kube/controller/owners.ts';
import type { Memory, SetMemory } from '../common/set-memory.ts';
import type { Rules } from './rules.ts';
import type { Pod, Pvc, StatefulSet, StatefulSetOptions, StorageClass } from '../common/types.ts';
import type { ClaimPlan } from '../../kube/controller/claim.ts';
import type { HistoryPlan, Revision } from '../common/history/contract.ts';
import { controllerRevisions, persistentVolumeClaims, pods, statefulSets, storageClasses } from '../../kube/api/object.ts';
import type { Runtime } from '../../kube/process/contract.ts';

export interface Caches {
  sets: Informer<StatefulSet>;
  pods: Informer<Pod>;
  pvcs: Informer<Pvc>;
  revisions: Informer<Revision>;
  /** For the expansion of claims. */
  classes: Informer<StorageClass>;
}

/** Index: pods by owning set, orphans by namespace; without pods of other owners, which are most of a cluster. */
const BY_SET = 'statefulset';

const podFields = [
  'metadata.creationTimestamp',
  'spec.nodeName',
  'spec.volumes.name',
  'spec.volumes.persistentVolumeClaim',
  'status.phase',
  'status.reason',
];
const conditions = ['type', 'status', 'reason', 'lastTransitionTime'].map((field) => `status.conditions.${field}`);

/** Requests the caches that the controller needs. */
export function cachesOf({ informers }: Pick<Runtime, 'informers'>, { namespace, objectSelector }: StatefulSetOptions): Caches {
  const within = namespace === undefined ? {} : { namespace };
  const selected = objectSelector === undefined ? {} : { labelSelector: objectSelector };
  return {
    sets: informers.of<StatefulSet>(statefulSets, { fields: 'all' }, { ...within, ...selected }),
    pods: informers.of<Pod>(pods, { fields: [...podFields, ...conditions], indexes: { [BY_SET]: bySet } }, within),
    // Whole objects, because they are written back.
    pvcs: informers.of<Pvc>(persistentVolumeClaims, { fields: 'all' }, within),
    revisions: informers.of<Revision>(controllerRevisions, { fields: 'all', indexes: { [BY_OWNER]: byOwner } }, within),
    classes: informers.of<StorageClass>(storageClasses, { fields: ['metadata.annotations', 'allowVolumeExpansion'] }),
  };
}

function bySet(pod: Readonly<Pod>): string[] {
  const owner = controllerOf(pod);
  return owner === undefined || owner.kind === statefulSets.kind ? byOwner(pod) : [];
}

/** What the caches have of one set, and what the controller remembers of it. */
export interface Observed {
  rules: Rules;
  /** Wall clock, in ms, as the ready times of pods. */
  now: Millis;
  memory: Memory;
  /** The set's pods, and the orphans of its namespace. */
  pods: readonly Readonly<Pod>[];
  /** The set's revisions, and the orphans of its namespace. */
  revisions: readonly Readonly<Revision>[];
  /** Whether a pod of this name exists in the set's namespace, whatever its owner. */
  isTaken: (podName: string) => boolean;
  /** A claim of the set's namespace, by name. */
  pvc: (name: string) => Readonly<Pvc> | undefined;
  /** All claims of the set's namespace; called only to expand claims. */
  allPvcs: () => readonly Readonly<Pvc>[];
  /** @param name - undefined: the class of claims that name none */
  storageClass: (name: string | undefined) => Readonly<StorageClass> | undefined;
}

/**
 * Everything that the plan for one set is computed from. `isTaken`, `pvc`, `allPvcs` and `storageClass` read the caches when the plan calls them: after the
 * writes of ownership these may show a later state than `pods`. That is safe, since the plan only gets newer facts from it, and every write names an
 * object's UID or version, or fails where its name is taken.
 */
export interface SetFacts extends Omit<Observed, 'pods' | 'revisions'> {
  /** `pods.keep` and `pods.adopt` are the set's. */
  adoption: { pods: ClaimPlan<Pod>; revisions: ClaimPlan<Revision> };
  /** Its `current` is the update revision: that of the present template. */
  history: HistoryPlan;
  /** The revision of the last complete rollout; the update revision when there is none. */
  currentRevision: Readonly<Revision>;
}

export interface ObserveDeps {
  caches: Caches;
  memory: SetMemory;
  clock: Clock;
}

/** What the caches have of one set now. Only reads: the plan decides. */
export function observe(rules: Rules, { caches, memory, clock }: ObserveDeps): Observed {
  const { set, namespace } = rules;
  return {
    rules,
    now: clock.now(),
    memory: memory.of(rules),
    pods: ownedOrOrphaned(caches.pods, set, BY_SET),
    revisions: ownedOrOrphaned(caches.revisions, set),
    isTaken: (name) => caches.pods.get(objectKey({ metadata: { name, namespace } })) !== undefined,
    pvc: (name) => caches.pvcs.get(objectKey({ metadata: { name, namespace } })),
    allPvcs: () => caches.pvcs.list(namespace),
    storageClass: (name) => (name === undefined ? defaultClassOf(caches.classes.list()) : caches.classes.get(name)),
  };
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** The class of claims that name none. */
export function defaultClassOf(classes: readonly Readonly<StorageClass>[]): Readonly<StorageClass> | undefined {
  return classes.find(isDefaultClass);
}

export function isDefaultClass({ metadata }: Readonly<StorageClass>): boolean {
  return metadata.annotations?.[DEFAULT_CLASS] === 'true';
}
