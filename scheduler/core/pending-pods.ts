import type { Millis } from '../../base/clock.ts';
import type { Key } from '../../kube/cache/contract.ts';
import type { SchedulerConfig } from '../config/config.ts';
import type { NominatedPods } from '../engine/engine.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Candidate } from '../preempt/candidates.ts';
import type { Failure, QueuedPod, SchedulingQueue } from '../queue/contract.ts';
import { requirementsKey } from '../queue/equivalence-class.ts';
import type { Hints } from '../queue/hints.ts';
import { nominatedNodeOf, nominationsOf, Nominator } from '../queue/nominator.ts';
import { createQueue } from '../queue/queue.ts';
import type { ClusterEvent } from '../types.ts';
import type { HeldCapacity } from './hooks.ts';

export type QueueView = Pick<SchedulingQueue, 'sizes' | 'inFlight' | 'find' | 'list'>;
export type NominatorView = Pick<Nominator, 'nodeOf' | 'on' | 'nodes' | 'size'>;

export interface PendingPodsOptions {
  config: SchedulerConfig;
  /** Clock of the queue. */
  now: () => Millis;
  held: HeldCapacity;
  hints: Hints;
  /** Whether the pod counts on a node. */
  isPlaced: (uid: string) => boolean;
  /** The newest cached state of a pod. */
  latest: (key: Key) => PodInfo | undefined;
}

/**
 * Pods without a node: the queue, the nominator, and the victims that preemptors wait for. Only this class writes the three, and it requeues the pods that a
 * write may help. All methods are synchronous.
 */
export class PendingPods {
  readonly #held: HeldCapacity;
  readonly #isPlaced: (uid: string) => boolean;
  readonly #latest: (key: Key) => PodInfo | undefined;
  readonly #queue: SchedulingQueue;
  readonly #nominator = new Nominator();
  /** UIDs of preempted pods: their capacity is for the preemptors. */
  readonly #victims = new Set<string>();

  constructor({ config, now, held, hints, isPlaced, latest }: PendingPodsOptions) {
    this.#held = held;
    this.#isPlaced = isPlaced;
    this.#latest = latest;
    this.#queue = createQueue({
      now,
      initialBackoffMs: config.initialBackoffMs,
      maxBackoffMs: config.maxBackoffMs,
      flushMs: config.unschedulableFlushMs,
      hints,
      prioritized: (info) => config.reservation.upgradeFirst && held.of(info) !== undefined,
      classOf: requirementsKey,
    });
  }

  // ---- views

  get queue(): QueueView {
    return this.#queue;
  }

  get nominator(): NominatorView {
    return this.#nominator;
  }

  get victims(): ReadonlySet<string> {
    return this.#victims;
  }

  /** What filters count on a node beside its pods. */
  get nominations(): NominatedPods {
    return nominationsOf(this.#nominator, this.#held);
  }

  // ---- pods come, change and go

  /** A new pod. Whether capacity is held for it must be known by now: that decides its place in the queue. */
  add(pod: PodInfo): void {
    this.#queue.add(pod);
    this.#nominator.add(pod);
  }

  /** If the pod lost its nomination, pods that had to leave that node to it are requeued. */
  update(before: PodInfo, after: PodInfo): void {
    this.#queue.add(after);
    const was = nominatedNodeOf(before);
    this.#nominator.update(before, after);
    if (was !== '' && was !== nominatedNodeOf(after)) this.onNominationRemoved(before, was);
  }

  /** Queues the pod again, as a new one. */
  readd(pod: PodInfo): void {
    this.#queue.add(pod);
  }

  /** The pod was deleted, or is assigned to a node. Called by {@link SchedulerState} alone. @returns the node that it was nominated for */
  remove(pod: PodInfo): string | undefined {
    this.#queue.delete(pod);
    return this.#nominator.delete(pod.uid);
  }

  /** A pod was deleted. Called by {@link SchedulerState} alone. @returns whether it was a victim */
  victimDeleted(uid: string): boolean {
    return this.#victims.delete(uid);
  }

  // ---- one pod, phase by phase

  /** The next pod to schedule. In flight until {@link done}, {@link unschedulable} or {@link failed}. */
  pop(): QueuedPod | undefined {
    return this.#queue.pop();
  }

  /** The pod was assumed on this node, and stays in flight until {@link done} or {@link failed}. Called by {@link SchedulerState} alone. */
  assumed(pod: PodInfo, node: string): void {
    this.#queue.assumed(pod.uid);
    const nominated = this.#nominator.delete(pod.uid);
    if (nominated !== undefined && nominated !== node) this.onNominationRemoved(pod, nominated);
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
      for (const { uid } of chosen.victims) if (this.#isPlaced(uid)) this.#victims.add(uid);
      for (const { uid } of unnominated) nominator.delete(uid);
      nominator.add(pod, chosen.node);
    } else if (!keepsNomination) nominator.delete(pod.uid);
    // Requeued here, not by the event of the pod's status: the nomination may never have been written there.
    if (before !== undefined && nominator.nodeOf(pod.uid) !== before) this.onNominationRemoved(pod, before);
    return { nominate: chosen?.node ?? (keepsNomination ? undefined : cleared(before, pod)), unnominated };
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

  /** The attempt failed with an error: the pod is retried with growing backoff. @returns as {@link unschedulable} */
  failed(queued: QueuedPod, pod: PodInfo): { nominate: string | undefined } {
    const nominated = this.#nominator.delete(pod.uid);
    const latest = this.#latest(pod.key) ?? pod;
    this.#queue.requeue(queued, { why: 'error' }, latest);
    if (nominated !== undefined) this.onNominationRemoved(pod, nominated);
    return { nominate: cleared(nominated, latest) };
  }

  /** Nominates the pod for the node, until the pod is assumed, or rejected again. */
  nominate(pod: PodInfo, node: string): void {
    this.#nominator.add(pod, node);
  }

  // ---- what requeues pods

  /** Requeues pods whose backoff or waiting time is over. @returns when to call again; undefined: no pod waits for a time */
  tick(): Millis | undefined {
    return this.#queue.tick();
  }

  /** Requeues the pods that the event may help. @param only - selects the pods to consider. @default all */
  enqueueOn(event: ClusterEvent, only?: (pod: PodInfo) => boolean): void {
    this.#queue.enqueueOn(event, only);
  }

  /** Requeues the pods nominated for this node that cannot get it any more: they may fit elsewhere. */
  requeueNominatedFor(node: string, isHopeless: (pod: PodInfo) => boolean): void {
    for (const pod of this.#nominator.on(node)) if (isHopeless(pod)) this.#queue.activate(pod.uid);
  }

  /** The capacity of this pod, or held for it, is free for pods of at most this priority: to pods of higher priority it was available before. */
  onHoldReleased(pod: PodInfo, most: number): void {
    this.#queue.enqueueOn({ kind: 'assigned-pod-deleted', before: pod }, ({ priority }) => priority <= most);
  }

  /** An assumed pod will not be bound: requeues the other pods that its capacity may help, unless the capacity is held. */
  onCapacityUnused(pod: PodInfo): void {
    const heldUpTo = this.#held.heldUpTo(pod);
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
}

/** '' clears nominatedNodeName. The status may still name a node whose nomination ended here when the pod was assumed. */
function cleared(nominated: string | undefined, pod: PodInfo): '' | undefined {
  return nominated !== undefined || nominatedNodeOf(pod) !== '' ? '' : undefined;
}
