import { jsonEqual } from '../../kube/api/json.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import { type Informer, type Key, objectKey } from '../../kube/cache/contract.ts';
import type { ClusterEvent, Namespace, Node, StorageObjects } from '../types.ts';
import { type PodInfo, podInfoOf } from '../pod/pod-info.ts';
import type { SchedulerHooks } from './hooks.ts';
import type { SchedulerState } from './state.ts';

export interface EventHandlersOptions {
  hooks: SchedulerHooks;
  /** Called after each event: there may be a pod to schedule. */
  notify: () => void;
  /** For the log. */
  onNote: (message: string, facts: Record<string, unknown>) => void;
  /** Processing an event of the object failed; the scheduler continues without that event. */
  onBroken(kind: string, object: Key, error: unknown): void;
}

/** Up to this many objects that fail to process are reported once each; further ones at every event. */
const MAX_BROKEN = 1_000;

/**
 * Applies informer events to {@link SchedulerState}, calls the hooks, and requeues the pods that the event may help, all synchronously: no pod is scheduled in
 * between.
 */
export class EventHandlers {
  readonly #state: SchedulerState;
  readonly #options: EventHandlersOptions;
  /** Objects whose last event could not be processed. */
  readonly #broken = new Set<string>();

  constructor(state: SchedulerState, options: EventHandlersOptions) {
    this.#state = state;
    this.#options = options;
  }

  listen(): void {
    const { caches, spreadSelectors } = this.#state;
    const { hooks } = this.#options;
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
    const owner = {
      added: () => spreadSelectors.changed(),
      updated: selectorChanged(() => spreadSelectors.changed()),
      deleted: () => spreadSelectors.changed(),
    };
    this.#on(caches.services, owner);
    this.#on(caches.replicationControllers, owner);
    this.#on(caches.replicaSets, owner);
    this.#on(caches.statefulSets, owner);
    this.#on(caches.statefulSets, {
      updated: (_before, after) => hooks.onControllerChanged(after.metadata.uid ?? '', after),
      deleted: ({ metadata }) => hooks.onControllerChanged(metadata.uid ?? '', undefined),
    });
    if (caches.daemonSets !== undefined)
      this.#on(caches.daemonSets, {
        updated: (_before, after) => hooks.onControllerChanged(after.metadata.uid ?? '', after),
        deleted: ({ metadata }) => hooks.onControllerChanged(metadata.uid ?? '', undefined),
      });
    const { storage } = caches;
    this.#onStorage(storage.claims, 'PersistentVolumeClaim');
    this.#onStorage(storage.volumes, 'PersistentVolume');
    this.#onStorage(storage.classes, 'StorageClass');
    this.#onStorage(storage.csiNodes, 'CSINode');
    this.#onStorage(storage.csiDrivers, 'CSIDriver');
    this.#onStorage(storage.capacities, 'CSIStorageCapacity');
    this.#onStorage(storage.attachments, 'VolumeAttachment');
  }

  podAdded(pod: PodInfo): void {
    const { hooks } = this.#options;
    if (hooks.ignores(pod)) return;
    if (pod.nodeName !== '') {
      this.#assigned(pod);
      return;
    }
    const isOurs = this.#hasProfile(pod);
    if (isOurs && pod.terminating) return;
    hooks.onPodPending(pod);
    if (isOurs) this.#state.pending.add(pod);
  }

  podUpdated(before: PodInfo, after: PodInfo): void {
    const state = this.#state;
    const { hooks, onNote } = this.#options;
    if (before === after || hooks.ignores(after)) return;
    if (before.nodeName !== '') {
      this.#assignedUpdated(before, after);
      return;
    }
    if (after.nodeName !== '') {
      this.#assigned(after);
      return;
    }
    if (!this.#hasProfile(after)) {
      hooks.onPodPending(after);
      return;
    }
    if (state.cluster.placed(after.uid)?.at === 'assumed') {
      // Changes come too late for this attempt. A terminating pod will not be bound.
      if (after.terminating && !before.terminating && state.forget(after)) onNote('an assumed pod is being deleted', { pod: after.key });
      return;
    }
    state.pending.update(before, after);
    hooks.onPodPending(after);
  }

  podDeleted(last: PodInfo, unseen: boolean): void {
    const state = this.#state;
    const { hooks } = this.#options;
    if (hooks.ignoredPodDeleted(last)) return;
    const { placed, nominated, isVictim } = state.deletePod(last);
    if (placed === undefined) {
      // Also for a pod that is no longer queued: a terminating pod leaves the queue without a node.
      hooks.onPendingPodDeleted(last);
      if (nominated !== undefined) state.pending.onNominationRemoved(last, nominated);
      return;
    }
    // Capacity is freed on the node where the cache counted the pod, whatever the last state of the pod says.
    const pod = last.nodeName === '' ? { ...last, nodeName: placed.state.name } : last;
    // A relist can show the deletion of a pod that the watch never showed on its node. If the server accepted the Binding, the pod was there.
    if (placed.at === 'assumed' && !(unseen && placed.boundAt !== undefined)) {
      state.abandonBinding(pod.uid);
      hooks.onPendingPodDeleted(pod);
      state.pending.onCapacityUnused(pod);
      return;
    }
    const heldUpTo = hooks.onAssignedPodDeleted(pod, { unseen, isVictim });
    state.pending.enqueueOn(
      { kind: 'assigned-pod-deleted', before: pod },
      heldUpTo === -Infinity ? undefined : ({ priority }) => priority > heldUpTo,
    );
  }

  nodeSet(node: Readonly<Node>): void {
    const state = this.#state;
    const { name = '' } = node.metadata;
    const before = state.cluster.node(name)?.node;
    const change = state.setNode(node);
    if (change === 'added') state.pending.enqueueOn({ kind: 'node-added', after: node });
    else if (change.size > 0 && before !== undefined) {
      state.pending.enqueueOn({ kind: 'node-updated', before, after: node, changed: change });
      state.requeueNominatedFor(name);
    }
    if (change === 'added' || change.size > 0) this.#options.hooks.onNodeChanged(name, node, change);
  }

  nodeDeleted(node: Readonly<Node>): void {
    const { name = '' } = node.metadata;
    this.#state.pending.enqueueOn({ kind: 'node-deleted', before: node });
    this.#state.removeNode(name);
    this.#state.requeueNominatedFor(name);
    this.#options.hooks.onNodeChanged(name, undefined, 'deleted');
  }

  #assigned(pod: PodInfo): void {
    const wasAssumed = this.#state.addAssigned(pod);
    this.#options.hooks.onPodAssigned(pod, wasAssumed);
    this.#state.pending.enqueueOn({ kind: 'assigned-pod-added', after: pod });
  }

  #assignedUpdated(before: PodInfo, after: PodInfo): void {
    const { hooks, onNote } = this.#options;
    if (this.#state.updateAssigned(after))
      onNote('a pod moved to another node, which the API server should not allow', { pod: after.key, node: after.nodeName });
    if (after.terminating && !before.terminating) hooks.onPodTerminating(after);
    if (before.requests !== after.requests || before.labels !== after.labels || before.terminating !== after.terminating)
      this.#state.pending.enqueueOn({ kind: 'assigned-pod-updated', before, after });
  }

  #namespaceChanged(before: Readonly<Namespace> | undefined, after: Readonly<Namespace>): void {
    this.#state.namespacesChanged();
    this.#state.pending.enqueueOn({ kind: 'namespace-changed', before, after });
  }

  #hasProfile(pod: PodInfo): boolean {
    return this.#state.profileOf(pod) !== undefined;
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
        // Reported once only: the object may change every second.
        if (!this.#broken.has(`${kind} ${key}`)) options.onBroken(kind, key, error);
        if (this.#broken.size < MAX_BROKEN) this.#broken.add(`${kind} ${key}`);
      }
      options.notify();
    };
    informer.addHandlers('scheduler', {
      ...(added && { added: (object, initial) => guarded(object, () => added(object, initial)) }),
      ...(updated && { updated: (before, after) => guarded(after, () => updated(before, after)) }),
      ...(deleted && { deleted: (last, unseen) => guarded(last, () => deleted(last, unseen)) }),
    });
  }

  #onStorage<K extends keyof StorageObjects>(informer: Informer<StorageObjects[K]> | undefined, of: K): void {
    if (informer === undefined) return;
    const wake = (before: Readonly<StorageObjects[K]> | undefined, after: Readonly<StorageObjects[K]> | undefined): void => {
      this.#state.pending.enqueueOn({ kind: 'storage-changed', of, before, after } as ClusterEvent);
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

function selectorChanged(then: () => void): (before: Readonly<KubeObject>, after: Readonly<KubeObject>) => void {
  return (before, after) => {
    const [was, is] = [before['spec'], after['spec']] as { selector?: unknown }[];
    if (!jsonEqual(was?.selector, is?.selector)) then();
  };
}
