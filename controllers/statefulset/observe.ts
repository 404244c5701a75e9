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
  /** For claims that are to grow. */
  classes: Informer<StorageClass>;
}

/** Pods by the set that owns them, orphans by namespace: without those of all other owners, which are most of a cluster. */
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

/** Says which caches the controller needs. */
export function cachesOf({ informers }: Pick<Runtime, 'informers'>, { namespace, objectSelector }: StatefulSetOptions): Caches {
  const within = namespace === undefined ? {} : { namespace };
  const selected = objectSelector === undefined ? {} : { labelSelector: objectSelector };
  return {
    sets: informers.of<StatefulSet>(statefulSets, { fields: 'all' }, { ...within, ...selected }),
    pods: informers.of<Pod>(pods, { fields: [...podFields, ...conditions], indexes: { [BY_SET]: bySet } }, within),
    // Whole: they are written back.
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
  /** Wall clock, in ms: pods say when they became ready on that of their nodes. */
  now: Millis;
  memory: Memory;
  /** The set's, and those of its namespace without a controller. */
  pods: readonly Readonly<Pod>[];
  /** The set's, and those of its namespace without a controller. */
  revisions: readonly Readonly<Revision>[];
  /** Whether there is a pod of this name in the set's namespace, whoever has it. */
  isTaken: (podName: string) => boolean;
  /** A claim of the set's namespace, by name. */
  pvc: (name: string) => Readonly<Pvc> | undefined;
  /** All claims of the set's namespace; asked for when they are to grow. */
  allPvcs: () => readonly Readonly<Pvc>[];
  /** @param name - undefined: of claims that name none */
  storageClass: (name: string | undefined) => Readonly<StorageClass> | undefined;
}

/** All that one decision on one set rests on. Values: the same facts give the same plan. */
export interface SetFacts extends Omit<Observed, 'pods' | 'revisions'> {
  /** `pods.keep` and `pods.adopt` are the set's. */
  adoption: { pods: ClaimPlan<Pod>; revisions: ClaimPlan<Revision> };
  /** Its `current` is the update revision: that of the present template. */
  history: HistoryPlan;
  /** The revision that the last complete rollout left; the update revision where there is none. */
  currentRevision: Readonly<Revision>;
}

export interface Observer {
  caches: Caches;
  memory: SetMemory;
  clock: Clock;
}

/** What the caches have of one set now. It only reads: what follows from it is for the plan. */
export function observe(rules: Rules, { caches, memory, clock }: Observer): Observed {
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

/** The one of claims that name none. */
export function defaultClassOf(classes: readonly Readonly<StorageClass>[]): Readonly<StorageClass> | undefined {
  return classes.find(isDefaultClass);
}

export function isDefaultClass({ metadata }: Readonly<StorageClass>): boolean {
  return metadata.annotations?.[DEFAULT_CLASS] === 'true';
}
