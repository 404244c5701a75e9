import type { Clock, Millis } from '../../base/clock.ts';
import type { Informer, Key } from '../../kube/cache/contract.ts';
import type { Expectations } from '../../kube/controller/expectations.ts';
import { controllerOf, isControlledBy, BY_OWNER, byOwner, orphanValue, ownedOrOrphaned } from '../../kube/controller/owners.ts';
import type { Counted, StatusCounter } from './status-counter.ts';
import type { Summary } from './summary.ts';
import type { Memory, SetMemory } from '../common/set-memory.ts';
import { type Rules, selects } from './rules.ts';
import type { ClaimPlan } from '../../kube/controller/claim.ts';
import type { HistoryPlan, Revision } from '../common/history/contract.ts';
import type { DaemonSet, DaemonSetOptions, Node, Pod } from '../common/types.ts';
import { controllerRevisions, daemonSets, nodes, pods } from '../../kube/api/object.ts';
import type { Runtime } from '../../kube/process/contract.ts';
import { targetNode } from './pods.ts';
import type { Decide } from './placement/node-decision.ts';

export interface Caches {
  sets: Informer<DaemonSet>;
  pods: Informer<Pod>;
  nodes: Informer<Node>;
  revisions: Informer<Revision>;
}

/** Index: pods of sets by set and node; orphans by namespace. */
export const BY_NODE = 'daemonset-node';
/** Index: pods of any owner by node. */
export const ON_NODE = 'node-name';

export const nodeValue = (uid: string, node: string | undefined): string => `${uid}/${node ?? ''}`;

const podFields = [
  'metadata.creationTimestamp',
  'spec.nodeName',
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.matchFields',
  'status.phase',
  'status.reason',
  'status.conditions.type',
  'status.conditions.status',
  'status.conditions.reason',
  'status.conditions.lastTransitionTime',
];
/** Also needed where the controller places pods and must find room. */
const fitFields = [
  'spec.hostNetwork',
  'spec.overhead',
  'spec.containers.resources.requests',
  'spec.containers.ports',
  'spec.initContainers.resources.requests',
  'spec.initContainers.restartPolicy',
];

/** Requests the caches that the controller needs. */
export function cachesOf({ informers }: Pick<Runtime, 'informers'>, { placement, namespace, objectSelector }: DaemonSetOptions): Caches {
  const within = namespace === undefined ? {} : { namespace };
  const selected = objectSelector === undefined ? {} : { labelSelector: objectSelector };
  const places = placement === 'controller';
  return {
    sets: informers.of<DaemonSet>(daemonSets, { fields: 'all' }, { ...within, ...selected }),
    pods: informers.of<Pod>(
      pods,
      {
        fields: places ? [...podFields, ...fitFields] : podFields,
        indexes: { [BY_NODE]: bySetAndNode, ...(places ? { [ON_NODE]: ({ spec }: Readonly<Pod>) => [spec?.nodeName ?? ''] } : {}) },
      },
      // A controller that places pods has to know all pods of each node.
      places ? {} : within,
    ),
    nodes: informers.of<Node>(nodes, {
      fields: ['spec.taints', ...(places ? ['status.allocatable', 'status.conditions.type', 'status.conditions.status'] : [])],
    }),
    revisions: informers.of<Revision>(controllerRevisions, { fields: 'all', indexes: { [BY_OWNER]: byOwner } }, within),
  };
}

export function bySetAndNode(pod: Readonly<Pod>): string[] {
  const owner = controllerOf(pod);
  if (owner === undefined) return [orphanValue(pod.metadata.namespace ?? '')];
  return owner.kind === daemonSets.kind ? [nodeValue(owner.uid, targetNode(pod))] : [];
}

/** What the caches have of one set, and what the controller remembers of it. */
export interface Observed {
  rules: Rules;
  /** Wall clock, in ms, as the ready times of pods. */
  now: Millis;
  /** Ms until the expectations of the last pass expire; 0 when all are fulfilled. */
  pendingMs: Millis;
  memory: Memory;
  /** The set's revisions, and the orphans of its namespace. */
  revisions: readonly Readonly<Revision>[];
  /** Pods of its namespace without a controller. */
  orphans: readonly Readonly<Pod>[];
  /** The set's pods that its selector matches. Called when several revisions hold one template, which is rare: it lists all pods of the namespace. */
  ownPods: () => readonly Readonly<Pod>[];
  /**
   * Sums up the nodes and the set's pods, as the caches have them at the call: in the turn of `observe`, and once.
   * @returns undefined when more nodes are left than one turn of the event loop has time for: the next call counts more of them
   * @param hash - of the present revision
   * @param adopted - orphans that count as the set's
   */
  count: (hash: string, adopted: readonly Readonly<Pod>[]) => Counted | undefined;
}

/** Everything that the plan for one set is computed from. */
export interface SetFacts extends Pick<Observed, 'rules' | 'now' | 'pendingMs' | 'memory'> {
  adoption: { pods: ClaimPlan<Pod>; revisions: ClaimPlan<Revision> };
  history: HistoryPlan;
  /**
   * Of the set's pods, including those to be adopted. It is the counter's own, which the next count brings up to date: only reconciles of this set count, one
   * at a time, so that the plan and the status of one reconcile see the same summary.
   */
  summary: Summary;
}

export interface ObserveDeps {
  caches: Caches;
  counter: StatusCounter;
  memory: SetMemory;
  expectations: Expectations;
  clock: Clock;
  decide: (rules: Rules) => Decide;
}

/** What the caches have of one set now. Only reads: the plan decides. */
export function observe(key: Key, rules: Rules, { caches, counter, memory, expectations, clock, decide }: ObserveDeps): Observed {
  const { set } = rules;
  const { namespace = '' } = set.metadata;
  const now = clock.now();
  return {
    rules,
    now,
    pendingMs: expectations.requeueAfter(key) ?? 0,
    memory: memory.of(rules),
    revisions: ownedOrOrphaned(caches.revisions, set),
    orphans: caches.pods.indexed(BY_NODE, orphanValue(namespace)),
    ownPods: () => {
      const isSelected = selects(rules);
      return caches.pods.list(namespace).filter((pod) => isControlledBy(pod, set) && isSelected(pod));
    },
    count: (hash, adopted) => counter.count(rules, hash, decide(rules), now, adopted),
  };
}
