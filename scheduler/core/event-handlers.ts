import type { KubeObject } from '../../kube/api/object.ts';
import { jsonEqual } from '../../kube/api/json.ts';
import { objectKey, type Informer, type Key } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owner-refs.ts';
import type { NodeChange } from '../cache/cluster.ts';
import type { NodeAspect, StorageObjects } from '../cluster-event.ts';
import { podInfoOf, type PodInfo } from '../pod/pod-info.ts';
import { nominatedNodeOf } from '../queue/nominator.ts';
import { newestRevision } from '../reservation/newest-revision.ts';
import type { DaemonSet, DeletionFacts } from '../reservation/contract.ts';
import type { Namespace, Node, StatefulSet } from '../types.ts';
import { BY_OWNER } from '../informers.ts';
import type { MirrorBook } from '../placeholder/seen-placeholders.ts';
import type { Parts } from './state.ts';
import { recheckRoom, roomFacts } from '../reservation/capacity.ts';
import { roomDropped, roomMade, wakeForPromise, wakeForRoom, type RoomTeller } from '../reservation/wakes.ts';

/** Who wants to know that something happened which may give the scheduler something to do. */
export interface RouterOptions extends RoomTeller {
  poke: () => void;
  /** A pod on a node is on its way out: its room may be worth keeping. */
  onLeaving(facts: DeletionFacts): void;
  /** A pod left its node, and nothing is kept of it. */
  onLeft(pod: PodInfo): void;
  /** A pod that was being bound is gone, or is going. */
  onAbandoned(pod: PodInfo): void;
  /** Knows pods that stand for kept room. Undefined: there are none. */
  mirrors?: MirrorBook | undefined;
  /** For the log. */
  onNote(message: string, facts: Record<string, unknown>): void;
  /** An object could not be taken in, and the scheduler goes on without that change of it. */
  onBroken(kind: string, object: Key, error: unknown): void;
}

/** So many objects that cannot be taken in are said once; more of them at each change. */
const MAX_BROKEN = 1_000;

/**
 * Brings what the caches hear to where it counts, in the same turn and in this order: the cluster first, then room that is kept, and then whoever may be helped.
 * Nothing is decided in between.
 */
export class Router {
  readonly #parts: Parts;
  readonly #options: RouterOptions;
  /** Objects that could not be taken in when they came last. */
  readonly #broken = new Set<string>();

  constructor(parts: Parts, options: RouterOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  listen(): void {
    const { caches, siblings } = this.#parts;
    this.#on(caches.pods, {
      added: (pod) => this.podAdded(podInfoOf(pod)),
      updated: (before, after) => this.podUpdated(podInfoOf(before), podInfoOf(after)),
      deleted: (last, unseen) => this.podDeleted(podInfoOf(last), unseen),
    });
    this.#on(caches.nodes, {
      added: (node) => this.nodeSet(node),
      updated: (_before, after) => this.nodeSet(after),
      deleted: (node) => this.nodeDeleted(node),
    });
    this.#on(caches.namespaces, {
      added: (after, initial) => {
        if (!initial) this.#namespaceChanged(undefined, after);
      },
      updated: (before, after) => {
        if (!jsonEqual(before.metadata.labels, after.metadata.labels)) this.#namespaceChanged(before, after);
      },
    });
    const owner = { added: () => siblings.changed(), updated: specChanged(() => siblings.changed()), deleted: () => siblings.changed() };
    this.#on(caches.services, owner);
    this.#on(caches.replicationControllers, owner);
    this.#on(caches.replicaSets, owner);
    this.#on(caches.statefulSets, owner);
    this.#on(caches.statefulSets, {
      updated: (_before, after) => this.#setChanged(after.metadata.uid ?? '', after),
      deleted: ({ metadata }) => this.#setChanged(metadata.uid ?? '', undefined),
    });
    if (caches.daemonSets !== undefined)
      this.#on(caches.daemonSets, {
        updated: (_before, after) => this.#setChanged(after.metadata.uid ?? '', after),
        deleted: ({ metadata }) => this.#setChanged(metadata.uid ?? '', undefined),
      });
    const { storage } = caches;
    this.#onStorage(storage.claims, 'PersistentVolumeClaim');
    this.#onStorage(storage.volumes, 'PersistentVolume');
    this.#onStorage(storage.classes, 'StorageClass');
    this.#onStorage(storage.csiNodes, 'CSINode');
    this.#onStorage(storage.csiDrivers, 'CSIDriver');
    this.#onStorage(storage.capacities, 'CSIStorageCapacity');
  }

  podAdded(info: PodInfo): void {
    if (this.#options.mirrors?.takes(info) === true) return;
    if (info.nodeName !== '') this.#assigned(info);
    else if (this.#isOurs(info)) this.#waits(info);
    else this.#seen(info);
  }

  podUpdated(before: PodInfo, after: PodInfo): void {
    if (before === after || this.#options.mirrors?.takes(after) === true) return;
    const { cluster, queue, nominator } = this.#parts;
    if (before.nodeName !== '') {
      this.#assignedUpdated(before, after);
      return;
    }
    if (after.nodeName !== '') {
      this.#assigned(after);
      return;
    }
    if (!this.#isOurs(after)) {
      this.#seen(after);
      return;
    }
    if (cluster.placed(after.uid)?.at === 'assumed') {
      // What it says of itself comes too late for this attempt. If it is on its way out, nothing will come of it.
      if (after.terminating && !before.terminating) this.#unassume(after);
      return;
    }
    queue.update(before, after);
    const was = nominatedNodeOf(before);
    nominator.update(before, after);
    if (was !== '' && was !== nominatedNodeOf(after)) wakeForRoom(this.#parts, { ...before, nodeName: was }, before.priority);
    this.#seen(after);
  }

  podDeleted(last: PodInfo, unseen: boolean): void {
    if (this.#options.mirrors?.drops(last) === true) {
      this.#recheck(last.nodeName);
      return;
    }
    const { cluster, queue, nominator, reservations, claimUsers, victims, now } = this.#parts;
    const placed = cluster.placed(last.uid);
    const nominated = nominator.delete(last.uid);
    queue.delete(last);
    const isVictim = victims.delete(last.uid);
    const at = now();
    if (placed === undefined) {
      // Also where it did not wait any more: on its way out for long, it was let go without a place.
      reservations.podGone(last, at);
      if (nominated !== undefined) wakeForPromise(this.#parts, last, nominated);
      return;
    }
    cluster.removePod(last.uid);
    claimUsers.remove(placed.info);
    // Where we counted it is where room is free now, whatever the last state says.
    const pod = last.nodeName === '' ? { ...last, nodeName: placed.state.name } : last;
    // Across a relist the end of a pod is seen without its having been on its node: it was, if the server took the binding.
    if (placed.at === 'assumed' && !(unseen && placed.boundAt !== undefined)) {
      this.#abandon(pod);
      reservations.podGone(pod, at);
      this.#wakeBeside(pod);
      return;
    }
    const made = reservations.podDeleted({ ...this.#deletion(pod, unseen, at), isVictim });
    roomDropped(this.#parts, this.#options, made.dropped);
    const { reservation, decision } = made;
    if (reservation === undefined) {
      this.#options.onLeft(pod);
      if (controllerOf(pod.pod)?.kind === 'StatefulSet') this.#options.onNote('no room is kept', { pod: pod.key, why: decision.why });
      queue.wake({ kind: 'assigned-pod-deleted', before: pod });
      return;
    }
    roomMade(this.#parts, this.#options, reservation);
    queue.wake({ kind: 'assigned-pod-deleted', before: pod }, ({ priority }) => priority > reservation.priority);
  }

  nodeSet(node: Readonly<Node>): void {
    const { cluster, queue } = this.#parts;
    const { name = '' } = node.metadata;
    const before = cluster.node(name)?.node;
    const change = this.#setNode(node);
    if (change === 'added') queue.wake({ kind: 'node-added', after: node });
    else if (change.size > 0 && before !== undefined) queue.wake({ kind: 'node-updated', before, after: node, changed: change });
    if (change === 'added' || change.size > 0) this.#roomOn(name, node, change);
  }

  /** Nothing is placed on a node that cannot be read. */
  #setNode(node: Readonly<Node>): NodeChange {
    const { cluster } = this.#parts;
    try {
      return cluster.setNode(node);
    } catch (error) {
      cluster.removeNode(node.metadata.name ?? '');
      throw error;
    }
  }

  nodeDeleted(node: Readonly<Node>): void {
    const { cluster, queue } = this.#parts;
    const { name = '' } = node.metadata;
    queue.wake({ kind: 'node-deleted', before: node });
    cluster.removeNode(name);
    this.#roomOn(name, undefined, 'added');
  }

  /** Takes back what was assumed of a pod. @returns whether there was something */
  unassume(info: PodInfo): boolean {
    const { cluster, claimUsers } = this.#parts;
    const placed = cluster.placed(info.uid);
    if (placed === undefined || !cluster.forget(info.uid)) return false;
    claimUsers.remove(placed.info);
    this.#abandon(info);
    this.#wakeBeside({ ...placed.info, nodeName: placed.state.name });
    return true;
  }

  /** Others may want what a pod does not take after all, unless it is kept for the next of its name. */
  #wakeBeside(pod: PodInfo): void {
    const { queue, reservations } = this.#parts;
    const kept = reservations.on(pod.nodeName).find(({ namespace, name }) => namespace === pod.namespace && name === pod.name);
    const from = kept?.priority ?? -Infinity;
    queue.wake({ kind: 'assigned-pod-deleted', before: pod }, ({ uid, priority }) => uid !== pod.uid && priority > from);
  }

  /** Its binding comes to nothing: what was decided of its volumes is free for others. */
  #abandon(pod: PodInfo): void {
    const { volumes, queue } = this.#parts;
    for (const event of volumes.view.forget(pod.uid)) queue.wake(event);
    this.#options.onAbandoned(pod);
  }

  #unassume(info: PodInfo): void {
    if (this.unassume(info)) this.#options.onNote('a pod that was to be bound is being deleted', { pod: info.key });
  }

  #assigned(info: PodInfo): void {
    const { cluster, queue, nominator, reservations, claimUsers } = this.#parts;
    const wasOurs = cluster.placed(info.uid)?.at === 'assumed';
    queue.delete(info);
    const promised = nominator.delete(info.uid);
    cluster.addPod(info);
    claimUsers.add(info, info.nodeName);
    roomDropped(this.#parts, this.#options, reservations.podPlaced(info));
    if (promised !== undefined && promised !== info.nodeName) wakeForPromise(this.#parts, info, promised);
    if (!wasOurs) this.#recheck(info.nodeName, this.#options.mirrors);
    queue.wake({ kind: 'assigned-pod-added', after: info });
  }

  #assignedUpdated(before: PodInfo, after: PodInfo): void {
    const { cluster, queue, claimUsers } = this.#parts;
    if (cluster.updatePod(after)) this.#options.onNote('a pod is on another node than before', { pod: after.key, node: after.nodeName });
    claimUsers.add(after, after.nodeName);
    if (after.terminating && !before.terminating) this.#options.onLeaving(this.#deletion(after, false, this.#parts.now()));
    if (before.requests !== after.requests || before.labels !== after.labels || before.terminating !== after.terminating)
      queue.wake({ kind: 'assigned-pod-updated', before, after });
  }

  #waits(info: PodInfo): void {
    const { queue, nominator } = this.#parts;
    if (info.terminating) return;
    this.#seen(info);
    queue.add(info);
    nominator.add(info);
    queue.reorder(info.uid);
  }

  /** A pod without a place was seen: perhaps the one that room is kept for. */
  #seen(info: PodInfo): void {
    const { reservations, now } = this.#parts;
    if (reservations.size === 0) return;
    const seen = reservations.podSeen(info, (node) => roomFacts(this.#parts, node), now());
    roomDropped(this.#parts, this.#options, seen.dropped);
    if (seen.eased === undefined) return;
    const { before } = seen.eased;
    wakeForRoom(this.#parts, before.ghost, before.priority);
  }

  #deletion(pod: PodInfo, unseen: boolean, now: number): DeletionFacts {
    const { caches, cluster } = this.#parts;
    const owner = controllerOf(pod.pod);
    const key = `${pod.namespace}/${owner?.name ?? ''}`;
    const set = owner?.kind === 'StatefulSet' ? caches.statefulSets.get(key) : undefined;
    const daemonSet = owner?.kind === 'DaemonSet' ? caches.daemonSets?.get(key) : undefined;
    const revisions = owner === undefined ? [] : caches.revisions.indexed(BY_OWNER, owner.uid);
    return {
      pod,
      unseen,
      set,
      daemonSet,
      newestRevision: owner === undefined ? undefined : newestRevision(revisions, owner),
      node: cluster.node(pod.nodeName)?.node,
      now,
    };
  }

  #namespaceChanged(before: Readonly<Namespace> | undefined, after: Readonly<Namespace>): void {
    const { cluster, engine, queue } = this.#parts;
    cluster.namespacesChanged();
    engine.forget();
    queue.wake({ kind: 'namespace-changed', before, after });
  }

  #setChanged(uid: string, set: Readonly<StatefulSet> | Readonly<DaemonSet> | undefined): void {
    const { reservations } = this.#parts;
    roomDropped(this.#parts, this.#options, reservations.setChanged(uid, set));
  }

  #roomOn(name: string, node: Readonly<Node> | undefined, change: 'added' | ReadonlySet<NodeAspect>): void {
    const { reservations, caches } = this.#parts;
    const isPlaced = (key: string): boolean => (caches.pods.get(key)?.spec?.nodeName ?? '') !== '';
    roomDropped(this.#parts, this.#options, reservations.nodeChanged(name, node, isPlaced));
    if (change !== 'added' && change.has('allocatable')) this.#recheck(name);
  }

  /** @param mirrors - what stands for room was on the node before whoever comes: the kubelet will refuse the newcomer, and has room for the other */
  #recheck(name: string, mirrors?: MirrorBook): void {
    const { reservations } = this.#parts;
    if (reservations.on(name).length > 0) recheckRoom(this.#parts, this.#options, name, (room) => mirrors?.stands(room) === true);
  }

  #isOurs(info: PodInfo): boolean {
    return this.#parts.profileOf(info) !== undefined;
  }

  #on<T extends KubeObject>(
    informer: Informer<T>,
    handlers: {
      added?: (object: Readonly<T>, initial: boolean) => void;
      updated?: (before: Readonly<T>, after: Readonly<T>) => void;
      deleted?: (last: Readonly<T>, unseen: boolean) => void;
    },
  ): void {
    const options = this.#options;
    const { added, updated, deleted } = handlers;
    const { kind } = informer.resource;
    const guarded = (object: Readonly<T>, take: () => void): void => {
      try {
        take();
        if (this.#broken.size > 0) this.#broken.delete(`${kind} ${objectKey(object)}`);
      } catch (error) {
        const key = objectKey(object);
        // Said once, for it may change every second.
        if (!this.#broken.has(`${kind} ${key}`)) options.onBroken(kind, key, error);
        if (this.#broken.size < MAX_BROKEN) this.#broken.add(`${kind} ${key}`);
      }
      options.poke();
    };
    informer.addHandlers('scheduler', {
      ...(added && { added: (object, initial) => guarded(object, () => added(object, initial)) }),
      ...(updated && { updated: (before, after) => guarded(after, () => updated(before, after)) }),
      ...(deleted && { deleted: (last, unseen) => guarded(last, () => deleted(last, unseen)) }),
    });
  }

  #onStorage<K extends keyof StorageObjects>(informer: Informer<StorageObjects[K]> | undefined, of: K): void {
    if (informer === undefined) return;
    const { queue } = this.#parts;
    const wake = (before: Readonly<StorageObjects[K]> | undefined, after: Readonly<StorageObjects[K]> | undefined): void => {
      queue.wake({ kind: 'storage-changed', of, before, after } as Parameters<typeof queue.wake>[0]);
    };
    this.#on(informer, {
      added: (after, initial) => {
        if (!initial) wake(undefined, after);
      },
      updated: (before, after) => wake(before, after),
      deleted: (before) => wake(before, undefined),
    });
  }
}

function specChanged(then: () => void): (before: Readonly<KubeObject>, after: Readonly<KubeObject>) => void {
  return (before, after) => {
    const [was, is] = [before['spec'], after['spec']] as { selector?: unknown }[];
    if (!jsonEqual(was?.selector, is?.selector)) then();
  };
}
