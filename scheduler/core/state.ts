import type { Clock, Millis } from '../../base/clock.ts';
import { type Random, seededRandom } from '../../base/random.ts';
import type { Key } from '../../kube/cache/contract.ts';
import { Cluster, type NodeChange, type Placed } from '../cache/cluster.ts';
import type { Budget, Node } from '../types.ts';
import type { ProfileConfig, SchedulerConfig } from '../config/config.ts';
import { DefaultSpreadSelectors } from '../engine/default-spread-selectors.ts';
import { Engine } from '../engine/engine.ts';
import { BY_RESOURCE, type Caches } from '../informers.ts';
import { isIgnored } from '../plugins/node-resources.ts';
import { type PodInfo, podInfoOf } from '../pod/pod-info.ts';
import { createHints, type Hints } from '../queue/hints.ts';
import type { VolumeDecision } from '../volumes/contract.ts';
import { CachedStorage, ClaimUsers } from '../volumes/view.ts';
import { VolumePlugins } from '../volumes/rules.ts';
import type { HeldCapacity, Reserved } from './hooks.ts';
import { type NominatorView, PendingPods, type QueueView } from './pending-pods.ts';

export type ClusterView = Pick<Cluster, 'node' | 'placed' | 'placedPods' | 'nodeCount' | 'podCount' | 'lowestPriority' | 'unconfirmed'>;

type Labels = Readonly<Record<string, string>>;

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
 * The state that decisions are based on: the pods on nodes, the pending pods, and the decisions about volumes. Only this class writes the cluster, and only
 * {@link PendingPods} the queue and the nominator; all other code has read-only views of the three. All methods are synchronous and without side effects
 * outside.
 */
export class SchedulerState {
  readonly config: SchedulerConfig;
  readonly caches: Caches;
  readonly engine: Engine;
  readonly spreadSelectors: DefaultSpreadSelectors;
  readonly volumes: VolumePlugins;
  readonly pending: PendingPods;
  readonly held: HeldCapacity;
  readonly random: Random;
  /** Wall clock at construction, plus the monotonic time since then: setting the clock changes no deadline. */
  readonly now: () => Millis;
  /** Converts a time of {@link now} to the present wall clock: for output, and for other processes. */
  readonly shown: (at: Millis) => Millis;
  readonly #cluster: Cluster;
  readonly #claimUsers = new ClaimUsers();
  readonly #assumed = new Map<string, AssumedPod & { readonly over: AbortController }>();

  constructor({ caches, config, clock, random, held }: StateOptions) {
    this.config = config;
    this.caches = caches;
    this.held = held;
    const zero = clock.now() - clock.monotonic();
    const now = (): Millis => zero + clock.monotonic();
    this.now = now;
    this.shown = (at) => Math.round(at + clock.now() - now());
    this.random = config.compat.seed === undefined ? random : seededRandom(config.compat.seed);
    const namespaceLabels = (name: string): Labels | undefined => caches.namespaces.get(name)?.metadata.labels;
    const cluster = new Cluster(namespaceLabels);
    this.#cluster = cluster;
    this.spreadSelectors = new DefaultSpreadSelectors({
      services: (namespace) => caches.services.list(namespace),
      replicationController: (key) => caches.replicationControllers.get(key),
      replicaSet: (key) => caches.replicaSets.get(key),
      statefulSet: (key) => caches.statefulSets.get(key),
    });
    this.volumes = new VolumePlugins(new CachedStorage(caches.storage, (namespace, claim) => this.#claimUsers.of(namespace, claim)), held);
    this.pending = new PendingPods({
      config,
      now,
      held,
      hints: this.#createHints(namespaceLabels),
      isPlaced: (uid) => cluster.placed(uid) !== undefined,
      latest: this.latest,
    });
    this.engine = new Engine({
      cluster,
      random: this.random,
      compat: config.compat,
      defaultSelectorOf: this.spreadSelectors.of,
      volumes: this.volumes,
      deviceClassOf: (resource) => caches.deviceClasses?.indexed(BY_RESOURCE, resource)[0]?.metadata.name,
      nominations: this.pending.nominations,
    });
  }

  #createHints(namespaceLabels: (name: string) => Labels | undefined): Hints {
    const { profiles } = this.config;
    return createHints({
      namespaceLabels,
      isAntiKey: (topologyKey) => this.#cluster.carried.hasAntiKey(topologyKey),
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
  }

  // ---- views

  get cluster(): ClusterView {
    return this.#cluster;
  }

  get queue(): QueueView {
    return this.pending.queue;
  }

  get nominator(): NominatorView {
    return this.pending.nominator;
  }

  get victims(): ReadonlySet<string> {
    return this.pending.victims;
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

  /** A pod is assigned to a node, by any scheduler: it is no longer assumed or pending. @returns whether it was assumed until now */
  addAssigned(pod: PodInfo): boolean {
    const wasAssumed = this.#cluster.placed(pod.uid)?.at === 'assumed';
    const nominated = this.pending.remove(pod);
    this.#cluster.addPod(pod);
    this.#claimUsers.add(pod, pod.nodeName);
    if (nominated !== undefined && nominated !== pod.nodeName) this.pending.onNominationRemoved(pod, nominated);
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
    const nominated = this.pending.remove(last);
    const isVictim = this.pending.victimDeleted(last.uid);
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

  /** A node changed or was deleted: requeues the pods nominated for it that no preemption there can help any more; they may fit elsewhere. */
  requeueNominatedFor(name: string): void {
    const on = this.#cluster.node(name);
    this.pending.requeueNominatedFor(name, (pod) => {
      const profile = this.profileOf(pod);
      if (profile === undefined) return false;
      return on?.node === undefined || this.engine.rejectionOn(pod, profile, on)?.resolvable === false;
    });
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

  // ---- pods that are being bound

  /**
   * From now on the pod counts on this node, and the decision about its volumes for all pods: {@link forget} and {@link abandonBinding} revert both. Ends with
   * {@link bindingDone}.
   */
  assume(pod: PodInfo, node: string, volumes: VolumeDecision = NO_VOLUMES): AssumedPod {
    this.#cluster.assume(pod, node);
    this.volumes.view.assume(pod.uid, volumes);
    this.#claimUsers.add(pod, node);
    this.pending.assumed(pod, node);
    const over = new AbortController();
    const assumed = { over, forgotten: over.signal, reserved: undefined };
    this.#assumed.set(pod.uid, assumed);
    return assumed;
  }

  /** The API server has bound the pod; only its watch event is outstanding. */
  bound(uid: string): void {
    this.pending.done(uid);
    this.#cluster.bound(uid, this.now());
  }

  /** Reverts {@link assume}, and requeues pods that the capacity may help. @returns whether the pod was assumed: a pod that was seen on its node stays */
  forget(pod: PodInfo): boolean {
    const placed = this.#cluster.placed(pod.uid);
    if (placed === undefined || !this.#cluster.forget(pod.uid)) return false;
    this.#claimUsers.remove(placed.info);
    this.abandonBinding(pod.uid);
    this.pending.onCapacityUnused({ ...placed.info, nodeName: placed.state.name });
    return true;
  }

  /** The pod will not be bound: volumes chosen for it are free for other pods, and its reservation is held again. */
  abandonBinding(uid: string): void {
    for (const event of this.volumes.view.forget(uid)) this.pending.enqueueOn(event);
    const assumed = this.#assumed.get(uid);
    assumed?.over.abort();
    assumed?.reserved?.unreserve();
  }

  bindingDone(uid: string, assumed: AssumedPod): void {
    if (this.#assumed.get(uid) === assumed) this.#assumed.delete(uid);
  }
}

export const NO_VOLUMES: VolumeDecision = { reserve: [], provision: [] };
