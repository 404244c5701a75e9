import type { Clock } from '../../base/clock.ts';
import { identityOf } from '../../kube/api/ordinals.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import { statefulSets } from '../../kube/api/resources.ts';
import { objectKey } from '../../kube/cache/contract.ts';
import { planClaim } from '../../kube/controller/claim-plan.ts';
import { statefulSetHistory, type Revision } from '../common/history/contract.ts';
import { currentRevision, planHistory } from '../common/history/plan.ts';
import { ownedOrOrphaned } from '../common/owner-index.ts';
import { BY_SET, type Caches } from './caches.ts';
import type { SetFacts } from './facts.ts';
import type { Rules } from './rules.ts';
import type { Pvc, Pod, StorageClass } from './types.ts';

/** What the facts are made of, wherever it comes from. */
export interface Cluster {
  /** The set's, and those that it might adopt. */
  pods: readonly Readonly<Pod>[];
  revisions: readonly Readonly<Revision>[];
  pvc: SetFacts['pvc'];
  allPvcs: SetFacts['allPvcs'];
  storageClass: SetFacts['storageClass'];
  now: number;
}

/** The facts of one set. Pure. */
export function factsOf(rules: Rules, { pods, revisions, pvc, allPvcs, storageClass, now }: Cluster): SetFacts {
  const { set, selector = [] } = rules;
  const selected = (object: Readonly<Pod> | Readonly<Revision>): boolean =>
    selector.length > 0 && matchesLabels(selector, object.metadata.labels);
  // By its name as well: what the selector of two sets finds belongs to the one that its name says.
  const ours = (pod: Readonly<Pod>): boolean => identityOf(pod.metadata.name ?? '')?.parent === rules.name && selected(pod);
  const adoption = { pods: planClaim(set, pods, ours), revisions: planClaim(set, revisions, selected) };
  const own = [...adoption.revisions.keep, ...adoption.revisions.adopt];
  const history = planHistory(
    { owner: set, template: rules.template, collisionCount: set.status?.collisionCount, revisions: own, pods: [] },
    statefulSets,
    statefulSetHistory,
  );
  return {
    rules,
    now,
    adoption,
    history,
    currentRevision: currentRevision(own, set.status?.currentRevision, history.current),
    pvc,
    allPvcs,
    storageClass,
  };
}

/** The facts of one set, out of the caches as they are now. */
export function observe(rules: Rules, caches: Caches, clock: Clock): SetFacts {
  const { set, namespace } = rules;
  const pvc = (name: string): Readonly<Pvc> | undefined => caches.pvcs.get(objectKey({ metadata: { name, namespace } }));
  return factsOf(rules, {
    pods: ownedOrOrphaned(caches.pods, set, BY_SET),
    revisions: ownedOrOrphaned(caches.revisions, set),
    pvc,
    allPvcs: () => caches.pvcs.list(namespace),
    storageClass: (name) => (name === undefined ? defaultClassOf(caches.classes.list()) : caches.classes.get(name)),
    now: clock.now(),
  });
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** The one of claims that name none. */
export function defaultClassOf(classes: readonly Readonly<StorageClass>[]): Readonly<StorageClass> | undefined {
  return classes.find(isDefaultClass);
}

export function isDefaultClass({ metadata }: Readonly<StorageClass>): boolean {
  return metadata.annotations?.[DEFAULT_CLASS] === 'true';
}
