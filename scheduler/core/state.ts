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
import { CachedStorage, ClaimUsers } from '../volumes/view.ts';
import { VolumeWork } from '../volumes/rules.ts';
import type { HeldCapacity, Reserved } from './hooks.ts';

export type ClusterView = Pick<Cluster, 'node' | 'placed' | 'placedPods' | 'nodeCount' | 'podCount' | 'lowestPriority' | 'unconfirmed'>;
export type QueueView = Pick<SchedulingQueue, 'sizes' | 'inFlight' | 'find' | 'list'>;
export type NominatorView = Pick<Nominator, 'nodeOf' | 'on' | 'nodes' | 'size'>;

/** A pod that counts on its node before the API server has bound it, for as long as its binding cycle runs. */
export interface AssumedPod {
  /** Aborts when the pod does not count there any more: it is gone, or terminating. */
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
 * What the scheduler knows and decides with. This class alone writes the cluster, the queue and the nominator, and enqueues pods for what it wrote; all other
 * code has read-only views of them. All of it is synchronous and without side effects outside.
 */
export class SchedulerState {
  readonly config: SchedulerConfig;
  readonly caches: Caches;
  readonly engine: Engine;
  readonly spreadSelectors: DefaultSpreadSelectors;
  readonly volumes: VolumeWork;
  readonly held: HeldCapacity;
  readonly random: Random;
  /** The wall clock as it was when this was made, and from then on in step with the monotonic one: setting the clock changes no deadline. */
  readonly now: () => Millis;
  /** What the wall clock shows at a moment of {@link now}: for people, and for other processes. */
  readonly shown: (at: Millis) => Millis;
  readonly #cluster: Cluster;
  readonly #queue: SchedulingQueue;
  readonly #nominator = new Nominator();
  readonly #claimUsers = new ClaimUsers();
  /** Uids of pods that are deleted for others: their room is for those. */
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

  /** Undefined: the pod is for another scheduler. */
  readonly profileOf = ({ schedulerName }: PodInfo): ProfileConfig | undefined => this.config.profiles.get(schedulerName);

  readonly budgets = (): readonly Readonly<Budget>[] => this.caches.budgets?.list() ?? [];

  /** The newest that the caches know of a pod. @throws where it cannot be read */
  readonly latest = (key: Key): PodInfo | undefined => {
    const pod = this.caches.pods.get(key);
    return pod && podInfoOf(pod);
  };

  // ---- events of informers

  /** A pod that waits for a node is new. */
  addPending(pod: PodInfo): void {
    this.#queue.add(pod);
    this.#nominator.add(pod);
    this.#queue.reorder(pod.uid);
  }

  /** It changed. Whoever had to leave the node that it was nominated for may want that now. */
  updatePending(before: PodInfo, after: PodInfo): void {
    this.#queue.add(after);
    const was = nominatedNodeOf(before);
    this.#nominator.update(before, after);
    if (was !== '' && was !== nominatedNodeOf(after)) this.#enqueueForNominated(before, was);
  }

  /** A pod is on a node, by whomever it was bound: no longer assumed, nor waiting. @returns whether it was assumed until now */
  addAssigned(pod: PodInfo): boolean {
    const wasAssumed = this.#cluster.placed(pod.uid)?.at === 'assumed';
    this.#queue.delete(pod);
    const nominated = this.#nominator.delete(pod.uid);
    this.#cluster.addPod(pod);
    this.#claimUsers.add(pod, pod.nodeName);
    if (nominated !== undefined && nominated !== pod.nodeName) this.#enqueueForNominated(pod, nominated);
    return wasAssumed;
  }

  /** @returns whether it is on another node than it was counted on, which no API server allows: that is corrected */
  updateAssigned(pod: PodInfo): boolean {
    const hasMoved = this.#cluster.updatePod(pod);
    this.#claimUsers.add(pod, pod.nodeName);
    return hasMoved;
  }

  /** A pod is gone. @returns where it counted, and for which node it was nominated */
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

  /** @throws where it cannot be read: then nothing is placed there any more */
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

  /** Labels of a namespace, or which namespaces there are. */
  namespacesChanged(): void {
    this.#cluster.namespacesChanged();
    this.engine.forget();
  }

  /** A pod on a node counts there, though it was ignored until now. */
  countPod(pod: PodInfo): void {
    this.#cluster.addPod(pod);
  }

  /** A pod on a node does not count there any more, though it is there. */
  ignorePod(uid: string): void {
    this.#cluster.removePod(uid);
  }

  // ---- one pod, phase by phase

  /** The next pod to schedule. In flight until {@link done}, {@link unschedulable} or {@link failed}. */
  pop(): QueuedPod | undefined {
    return this.#queue.pop();
  }

  /** From now on the pod counts on this node. Ends with {@link bindingDone}. */
  assume(pod: PodInfo, node: string): AssumedPod {
    this.#cluster.assume(pod, node);
    this.#claimUsers.add(pod, node);
    this.#queue.assumed(pod.uid);
    const nominated = this.#nominator.delete(pod.uid);
    if (nominated !== undefined && nominated !== node) this.#enqueueForNominated(pod, nominated);
    const over = new AbortController();
    const assumed = { over, forgotten: over.signal, reserved: undefined };
    this.#assumed.set(pod.uid, assumed);
    return assumed;
  }

  /** The API server has bound it: from now on it is only to be seen. */
  bound(uid: string): void {
    this.#queue.done(uid);
    this.#cluster.bound(uid, this.now());
  }

  /** Takes back {@link assume}, and offers what the pod took to others. @returns whether there was something: a pod that was seen on its node stays */
  forget(pod: PodInfo): boolean {
    const placed = this.#cluster.placed(pod.uid);
    if (placed === undefined || !this.#cluster.forget(pod.uid)) return false;
    this.#claimUsers.remove(placed.info);
    this.abandonBinding(pod.uid);
    this.enqueueForUnused({ ...placed.info, nodeName: placed.state.name });
    return true;
  }

  /** Its binding comes to nothing: what was decided of its volumes is free for others, what was reserved for it is held again. */
  abandonBinding(uid: string): void {
    for (const event of this.volumes.view.forget(uid)) this.enqueueOn(event);
    const assumed = this.#assumed.get(uid);
    assumed?.over.abort();
    assumed?.reserved?.unreserve();
  }

  bindingDone(uid: string, assumed: AssumedPod): void {
    if (this.#assumed.get(uid) === assumed) this.#assumed.delete(uid);
  }

  /** Nothing is to be done about this pod any more. */
  done(uid: string): void {
    this.#queue.done(uid);
  }

  /**
   * No node passed: the pod waits again, perhaps until its victims are gone; their node is nominated for it.
   * @param keepsNomination - the node that it was nominated for stays so
   * @returns what its status is to say (as of {@link Wanted}), and less important pods that lost this node
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
      // One that went while an extender was asked has no end any more that would take it out again.
      for (const { uid } of chosen.victims) if (this.#cluster.placed(uid) !== undefined) this.#victims.add(uid);
      for (const { uid } of unnominated) nominator.delete(uid);
      nominator.add(pod, chosen.node);
    } else if (!keepsNomination) nominator.delete(pod.uid);
    // At once: what its status says need not change for it, when nobody ever wrote it there.
    if (before !== undefined && nominator.nodeOf(pod.uid) !== before) this.#enqueueForNominated(pod, before);
    return { nominate: chosen?.node ?? (keepsNomination ? undefined : cleared(before, pod)), unnominated };
  }

  /** An error: the pod will be retried, later each time. @returns as {@link unschedulable} */
  failed(queued: QueuedPod, pod: PodInfo): { nominate: string | undefined } {
    const nominated = this.#nominator.delete(pod.uid);
    const latest = this.#latestOr(pod);
    this.#queue.requeue(queued, { why: 'error' }, latest);
    if (nominated !== undefined) this.#enqueueForNominated(pod, nominated);
    return { nominate: cleared(nominated, latest) };
  }

  /** The node is for this pod from now on, until it has a place or is refused. */
  nominate(pod: PodInfo, node: string): void {
    this.#nominator.add(pod, node);
  }

  /** Room was made for the pod, or could not be made (`failed`): it is tried again, and so is whoever lost the node. */
  preempted(pod: PodInfo, unnominated: readonly PodInfo[], failed: boolean): void {
    for (const { uid } of unnominated) this.#queue.activate(uid);
    this.#queue.release(pod.uid);
    if (failed) this.#queue.activate(pod.uid);
  }

  /** They were not deleted, and are nobody's victims. */
  spared(victims: readonly PodInfo[]): void {
    for (const { uid } of victims) this.#victims.delete(uid);
  }

  // ---- pods that wait

  /** Moves pods whose time has come. @returns when to call again; undefined: nobody waits for time */
  tick(): Millis | undefined {
    return this.#queue.tick();
  }

  /** Pods that this may help are tried again. @param only - none but these. @default all */
  enqueueOn(event: ClusterEvent, only?: (pod: PodInfo) => boolean): void {
    this.#queue.enqueueOn(event, only);
  }

  /** A node changed or is gone: pods nominated for it that no preemption there can help any more are tried again, and may find their place elsewhere. */
  enqueueNominated(name: string): void {
    const on = this.#cluster.node(name);
    for (const pod of this.#nominator.on(name)) {
      const profile = this.profileOf(pod);
      if (profile === undefined) continue;
      if (on?.node === undefined || this.engine.rejectionOn(pod, profile, on)?.resolvable === false) this.#queue.activate(pod.uid);
    }
  }

  /** What this pod took, or what was held as if it did, is free for pods of at most this priority: the others never had to leave it. */
  enqueueUpTo(pod: PodInfo, most: number): void {
    this.#queue.enqueueOn({ kind: 'assigned-pod-deleted', before: pod }, ({ priority }) => priority <= most);
  }

  /** An assumed pod does not take its place after all: others may want it, unless it is held. */
  enqueueForUnused(pod: PodInfo): void {
    const heldUpTo = this.held.heldUpTo(pod);
    this.#queue.enqueueOn({ kind: 'assigned-pod-deleted', before: pod }, ({ uid, priority }) => uid !== pod.uid && priority > heldUpTo);
  }

  /** A pod that was nominated for this node is gone. */
  enqueueForDeleted(pod: PodInfo, nominated: string): void {
    this.#enqueueForNominated(pod, nominated);
  }

  /** Whether something is held for this pod has changed: that decides who goes first. */
  reorder(uid: string): void {
    this.#queue.reorder(uid);
  }

  /** It waits again, as if it were new. */
  readd(pod: PodInfo): void {
    this.#queue.add(pod);
  }

  /** The failure of this pod is to be reported, whatever else fails. */
  #latestOr(pod: PodInfo): PodInfo {
    try {
      return this.latest(pod.key) ?? pod;
    } catch {
      return pod;
    }
  }

  /** The pod is not nominated for this node any more: that is free for whoever had to leave it, but for the pod itself. */
  #enqueueForNominated(pod: PodInfo, node: string): void {
    const before = { ...pod, nodeName: node };
    this.#queue.enqueueOn({ kind: 'assigned-pod-deleted', before }, ({ uid, priority }) => uid !== pod.uid && priority <= pod.priority);
  }
}

/** No node is nominated any more. Its status may say so of a nomination that ended here when the pod seemed to have a place. */
function cleared(nominated: string | undefined, pod: PodInfo): '' | undefined {
  return nominated !== undefined || nominatedNodeOf(pod) !== '' ? '' : undefined;
}
