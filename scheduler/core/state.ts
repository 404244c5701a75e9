import type { Clock, Millis } from '../../base/clock.ts';
import { type Random, seededRandom } from '../../base/random.ts';
import type { Key } from '../../kube/cache/contract.ts';
import { Cluster, type NodeChange, type Placed } from '../cache/cluster.ts';
import type { Budget, ClusterEvent, Node } from '../types.ts';
import type { ProfileConfig, SchedulerConfig } from '../config/config.ts';
import { DefaultSpreadSelectors } from '../engine/default-spread-selectors.ts';
import { Engine } from '../engine/engine.ts';
import { BY_RESOURCE, type Caches } from '../informers.ts';
import { isIgnored } from '../plugins/node-resources.ts';
import { type PodInfo, podInfoOf } from '../pod/pod-info.ts';
import type { Candidate } from '../preempt/candidates.ts';
import type { Failure, QueuedPod, SchedulingQueue } from '../queue/contract.ts';
import { createHints } from '../queue/hints.ts';
import { nominatedNodeOf, nominationsOf, Nominator } from '../queue/nominator.ts';
import { requirementsKey } from '../queue/equivalence-class.ts';
import { createQueue } from '../queue/queue.ts';
import type { VolumeDecision } from '../volumes/contract.ts';
import { CachedStorage, ClaimUsers } from '../volumes/view.ts';
import { VolumeWork } from '../volumes/rules.ts';
import type { HeldCapacity, Reserved } from './hooks.ts';

export type ClusterView = Pick<Cluster, 'node' | 'placed' | 'placedPods' | 'nodeCount' | 'podCount' | 'lowestPriority' | 'unconfirmed'>;
export type QueueView = Pick<SchedulingQueue, 'sizes' | 'inFlight' | 'find' | 'list'>;
export type NominatorView = Pick<Nominator, 'nodeOf' | 'on' | 'nodes' | 'size'>;

/** A pod that counts on its node before the API server has bound it, for as long as its binding cycle runs. */
export interface AssumedPod {
  /** Aborts when the pod no longer counts there: it was deleted or is terminating. */
  readonly forgotten: AbortSignal;
  reserved: Reserved | undefined;
}

export interface StateOptions {
  caches: Caches;
  config: SchedulerConfig;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  random: Random;
  held: HeldCapacity;
}

/**
 * The state that decisions are based on. Only this class writes the cluster, the queue and the nominator, and requeues pods after its writes; all other code
 * has read-only views of them. All methods are synchronous and without side effects outside.
 */
export class SchedulerState {
  readonly config: SchedulerConfig;
  readonly caches: Caches;
  readonly engine: Engine;
  readonly spreadSelectors: DefaultSpreadSelectors;
  readonly volumes: VolumeWork;
  readonly held: HeldCapacity;
  readonly random: Random;
  /** Wall clock at construction, plus the monotonic time since then: setting the clock changes no deadline. */
  readonly now: () => Millis;
  /** Converts a time of {@link now} to the present wall clock: for output, and for other processes. */
  readonly shown: (at: Millis) => Millis;
  readonly #cluster: Cluster;
  readonly #queue: SchedulingQueue;
  readonly #nominator = new Nominator();
  readonly #claimUsers = new ClaimUsers();
  /** UIDs of preempted pods: their capacity is for the preemptors. */
  readonly #victims = new Set<string>();
  readonly #assumed = new Map<string, AssumedPod & { readonly over: AbortController }>();

  constructor({ caches, config, clock, random, held }: StateOptions) {
    const { profiles, reservation, compat } = config;
    this.config = config;
    this.caches = caches;
    this.held = held;
    const zero = clock.now() - clock.monotonic();
    const now = (): Millis => zero + clock.monotonic();
    this.now = now;
    this.shown = (at) => Math.round(at + clock.now() - now());
    this.random = compat.seed === undefined ? random : seededRandom(compat.seed);
    const namespaceLabels = (name: string): Readonly<Record<string, string>> | undefined => caches.namespaces.get(name)?.metadata.labels;
    const cluster = new Cluster(namespaceLabels);
    const nominator = this.#nominator;
    this.#cluster = cluster;
    this.spreadSelectors = new DefaultSpreadSelectors({
      services: (namespace) => caches.services.list(namespace),
      replicationController: (key) => caches.replicationControllers.get(key),
      replicaSet: (key) => caches.replicaSets.get(key),
      statefulSet: (key) => caches.statefulSets.get(key),
    });
    this.volumes = new VolumeWork(new CachedStorage(caches.storage, (namespace, claim) => this.#claimUsers.of(namespace, claim)), held);
    this.engine = new Engine({
      cluster,
      random: this.random,
      compat,
      defaultSelectorOf: this.spreadSelectors.of,
      volumes: this.volumes,
      deviceClassOf: (resource) => caches.deviceClasses?.indexed(BY_RESOURCE, resource)[0]?.metadata.name,
      nominations: nominationsOf(nominator, held),
    });
    const hints = createHints({
      namespaceLabels,
      isAntiKey: (topologyKey) => cluster.carried.hasAntiKey(topologyKey),
      addedAffinity: (name) => profiles.get(name)?.nodeAffinity.addedAffinity,
      ignores: (name, resource) => {
        const profile = profiles.get(name);
        return profile !== undefined && isIgnored(profile.fit, resource);
      },
      isRefusedEverywhere: (pod) => {
        const profile = this.profileOf(pod);
        const asked = profile && this.volumes.prepare(pod, profile);
        return asked !== undefined && 'plugin' in asked;
      },
    });
    this.#queue = createQueue({
      now,
      initialBackoffMs: config.initialBackoffMs,
      maxBackoffMs: config.maxBackoffMs,
      flushMs: config.unschedulableFlushMs,
      hints,
      prioritized: (info) => reservation.upgradeFirst && held.of(info) !== undefined,
      classOf: requirementsKey,
    });
  }

  // ---- views

  get cluster(): ClusterView {
    return this.#cluster;
  }

  get queue(): QueueView {
    return this.#queue;
  }

  get nominator(): NominatorView {
    return this.#nominator;
  }

  get victims(): ReadonlySet<string> {
    return this.#victims;
  }

  /** Undefined: the pod belongs to another scheduler. */
  readonly profileOf = ({ schedulerName }: PodInfo): ProfileConfig | undefined => this.config.profiles.get(schedulerName);

  readonly budgets = (): readonly Readonly<Budget>[] => this.caches.budgets?.list() ?? [];

  /** The newest cached state of a pod. */
  readonly latest = (key: Key): PodInfo | undefined => {
    const pod = this.caches.pods.get(key);
    return pod && podInfoOf(pod);
  };

  // ---- events of informers

  /** A pending pod was added. */
  addPending(pod: PodInfo): void {
    this.#queue.add(pod);
    this.#nominator.add(pod);
    this.#queue.reorder(pod.uid);
  }

  /** A pending pod was updated. If it lost its nomination, pods that had to leave that node to it are requeued. */
  updatePending(before: PodInfo, after: PodInfo): void {
    this.#queue.add(after);
    const was = nominatedNodeOf(before);
    this.#nominator.update(before, after);
    if (was !== '' && was !== nominatedNodeOf(after)) this.onNominationRemoved(before, was);
  }

  /** A pod is assigned to a node, by any scheduler: it is no longer assumed or pending. @returns whether it was assumed until now */
  addAssigned(pod: PodInfo): boolean {
    const wasAssumed = this.#cluster.placed(pod.uid)?.at === 'assumed';
    this.#queue.delete(pod);
    const nominated = this.#nominator.delete(pod.uid);
    this.#cluster.addPod(pod);
    this.#claimUsers.add(pod, pod.nodeName);
    if (nominated !== undefined && nominated !== pod.nodeName) this.onNominationRemoved(pod, nominated);
    return wasAssumed;
  }

  /** @returns whether the pod counted on another node until now. No API server allows such a move; the cache is corrected */
  updateAssigned(pod: PodInfo): boolean {
    const hasMoved = this.#cluster.updatePod(pod);
    this.#claimUsers.add(pod, pod.nodeName);
    return hasMoved;
  }

  /** A pod was deleted. @returns where it counted, and for which node it was nominated */
  deletePod(last: PodInfo): { placed: Placed | undefined; nominated: string | undefined; isVictim: boolean } {
    const placed = this.#cluster.placed(last.uid);
    const nominated = this.#nominator.delete(last.uid);
    this.#queue.delete(last);
    const isVictim = this.#victims.delete(last.uid);
    if (placed !== undefined) {
      this.#cluster.removePod(last.uid);
      this.#claimUsers.remove(placed.info);
    }
    return { placed, nominated, isVictim };
  }

  /** @throws if the node is malformed: it is then removed, so that no pod is scheduled there */
  setNode(node: Readonly<Node>): NodeChange {
    try {
      return this.#cluster.setNode(node);
    } catch (error) {
      this.#cluster.removeNode(node.metadata.name ?? '');
      throw error;
    }
  }

  removeNode(name: string): void {
    this.#cluster.removeNode(name);
  }

  /** The labels of a namespace changed, or a namespace was added. */
  namespacesChanged(): void {
    this.#cluster.namespacesChanged();
    this.engine.forget();
  }

  /** Counts an assigned pod on its node that was ignored until now. */
  countPod(pod: PodInfo): void {
    this.#cluster.addPod(pod);
  }

  /** An assigned pod no longer counts on its node, although it is still there. */
  ignorePod(uid: string): void {
    this.#cluster.removePod(uid);
  }

  // ---- one pod, phase by phase

  /** The next pod to schedule. In flight until {@link done}, {@link unschedulable} or {@link failed}. */
  pop(): QueuedPod | undefined {
    return this.#queue.pop();
  }

  /**
   * From now on the pod counts on this node, and the decision about its volumes for all pods: {@link forget} and {@link abandonBinding} revert both. Ends with
   * {@link bindingDone}.
   */
  assume(pod: PodInfo, node: string, volumes: VolumeDecision = NO_VOLUMES): AssumedPod {
    this.#cluster.assume(pod, node);
    this.volumes.view.assume(pod.uid, volumes);
    this.#claimUsers.add(pod, node);
    this.#queue.assumed(pod.uid);
    const nominated = this.#nominator.delete(pod.uid);
    if (nominated !== undefined && nominated !== node) this.onNominationRemoved(pod, nominated);
    const over = new AbortController();
    const assumed = { over, forgotten: over.signal, reserved: undefined };
    this.#assumed.set(pod.uid, assumed);
    return assumed;
  }

  /** The API server has bound the pod; only its watch event is outstanding. */
  bound(uid: string): void {
    this.#queue.done(uid);
    this.#cluster.bound(uid, this.now());
  }

  /** Reverts {@link assume}, and requeues pods that the capacity may help. @returns whether the pod was assumed: a pod that was seen on its node stays */
  forget(pod: PodInfo): boolean {
    const placed = this.#cluster.placed(pod.uid);
    if (placed === undefined || !this.#cluster.forget(pod.uid)) return false;
    this.#claimUsers.remove(placed.info);
    this.abandonBinding(pod.uid);
    this.onCapacityUnused({ ...placed.info, nodeName: placed.state.name });
    return true;
  }

  /** The pod will not be bound: volumes chosen for it are free for other pods, and its reservation is held again. */
  abandonBinding(uid: string): void {
    for (const event of this.volumes.view.forget(uid)) this.enqueueOn(event);
    const assumed = this.#assumed.get(uid);
    assumed?.over.abort();
    assumed?.reserved?.unreserve();
  }

  bindingDone(uid: string, assumed: AssumedPod): void {
    if (this.#assumed.get(uid) === assumed) this.#assumed.delete(uid);
  }

  /** The pod no longer needs to be scheduled. */
  done(uid: string): void {
    this.#queue.done(uid);
  }

  /**
   * No node passed: requeues the pod. If victims were chosen, the pod is held until they are deleted, and nominated for their node.
   * @param keepsNomination - the pod keeps its nomination
   * @returns the nominatedNodeName to write to its status (as in {@link Wanted}), and pods of lower priority that lost their nomination for this node
   */
  unschedulable(
    queued: QueuedPod,
    pod: PodInfo,
    failure: Failure,
    { chosen, keepsNomination }: { readonly chosen: Candidate | undefined; readonly keepsNomination: boolean },
  ): { nominate: string | undefined; unnominated: readonly PodInfo[] } {
    const nominator = this.#nominator;
    if (chosen !== undefined) this.#queue.hold(pod.uid);
    this.#queue.requeue(queued, failure, pod);
    const before = nominator.nodeOf(pod.uid);
    let unnominated: readonly PodInfo[] = [];
    if (chosen !== undefined) {
      unnominated = nominator.on(chosen.node).filter((other) => other.uid !== pod.uid && other.priority < pod.priority);
      // A victim that was deleted during the call to an extender gets no further delete event, which would remove it from this set.
      for (const { uid } of chosen.victims) if (this.#cluster.placed(uid) !== undefined) this.#victims.add(uid);
      for (const { uid } of unnominated) nominator.delete(uid);
      nominator.add(pod, chosen.node);
    } else if (!keepsNomination) nominator.delete(pod.uid);
    // Requeued here, not by the event of the pod's status: the nomination may never have been written there.
    if (before !== undefined && nominator.nodeOf(pod.uid) !== before) this.onNominationRemoved(pod, before);
    return { nominate: chosen?.node ?? (keepsNomination ? undefined : cleared(before, pod)), unnominated };
  }

  /** The attempt failed with an error: the pod is retried with growing backoff. @returns as {@link unschedulable} */
  failed(queued: QueuedPod, pod: PodInfo): { nominate: string | undefined } {
    const nominated = this.#nominator.delete(pod.uid);
    const latest = this.latest(pod.key) ?? pod;
    this.#queue.requeue(queued, { why: 'error' }, latest);
    if (nominated !== undefined) this.onNominationRemoved(pod, nominated);
    return { nominate: cleared(nominated, latest) };
  }

  /** Nominates the pod for the node, until the pod is assumed, or rejected again. */
  nominate(pod: PodInfo, node: string): void {
    this.#nominator.add(pod, node);
  }

  /** The preemption has ended: releases the preemptor, requeues it if a victim was not deleted (`failed`), and requeues pods that lost their nomination. */
  preempted(pod: PodInfo, unnominated: readonly PodInfo[], failed: boolean): void {
    for (const { uid } of unnominated) this.#queue.activate(uid);
    this.#queue.release(pod.uid);
    if (failed) this.#queue.activate(pod.uid);
  }

  /** These pods were not deleted and are no longer victims. */
  spared(victims: readonly PodInfo[]): void {
    for (const { uid } of victims) this.#victims.delete(uid);
  }

  // ---- pods that wait

  /** Requeues pods whose backoff or waiting time is over. @returns when to call again; undefined: no pod waits for a time */
  tick(): Millis | undefined {
    return this.#queue.tick();
  }

  /** Requeues the pods that the event may help. @param only - selects the pods to consider. @default all */
  enqueueOn(event: ClusterEvent, only?: (pod: PodInfo) => boolean): void {
    this.#queue.enqueueOn(event, only);
  }

  /** A node changed or was deleted: requeues the pods nominated for it that no preemption there can help any more; they may fit elsewhere. */
  requeueNominatedFor(name: string): void {
    const on = this.#cluster.node(name);
    for (const pod of this.#nominator.on(name)) {
      const profile = this.profileOf(pod);
      if (profile === undefined) continue;
      if (on?.node === undefined || this.engine.rejectionOn(pod, profile, on)?.resolvable === false) this.#queue.activate(pod.uid);
    }
  }

  /** The capacity of this pod, or held for it, is free for pods of at most this priority: to pods of higher priority it was available before. */
  onHoldReleased(pod: PodInfo, most: number): void {
    this.#queue.enqueueOn({ kind: 'assigned-pod-deleted', before: pod }, ({ priority }) => priority <= most);
  }

  /** An assumed pod will not be bound: requeues the other pods that its capacity may help, unless the capacity is held. */
  onCapacityUnused(pod: PodInfo): void {
    const heldUpTo = this.held.heldUpTo(pod);
    this.#queue.enqueueOn({ kind: 'assigned-pod-deleted', before: pod }, ({ uid, priority }) => uid !== pod.uid && priority > heldUpTo);
  }

  /** The pod is no longer nominated for this node: requeues the other pods that had to leave the capacity to it. */
  onNominationRemoved(pod: PodInfo, node: string): void {
    const before = { ...pod, nodeName: node };
    this.#queue.enqueueOn({ kind: 'assigned-pod-deleted', before }, ({ uid, priority }) => uid !== pod.uid && priority <= pod.priority);
  }

  /** Whether capacity is held for this pod has changed, and with it the order of the queue. */
  reorder(uid: string): void {
    this.#queue.reorder(uid);
  }

  /** Queues the pod again, as a new one. */
  readd(pod: PodInfo): void {
    this.#queue.add(pod);
  }
}

export const NO_VOLUMES: VolumeDecision = { reserve: [], provision: [] };

/** '' clears nominatedNodeName. The status may still name a node whose nomination ended here when the pod was assumed. */
function cleared(nominated: string | undefined, pod: PodInfo): '' | undefined {
  return nominated !== undefined || nominatedNodeOf(pod) !== '' ? '' : undefined;
}
