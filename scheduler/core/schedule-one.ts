import type { ProfileConfig } from '../config/config.ts';
import type { FitError } from '../engine/fit-error.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Failure, QueuedPod } from '../queue/contract.ts';
import { shortIn } from '../queue/hints/node-resources-fit.ts';
import { nominatedNodeOf } from '../queue/nominator.ts';
import { likewiseOf } from '../queue/equivalence-class.ts';
import { displacedFrom, makeRoom, type MadeRoom } from '../preempt/make-room.ts';
import type { Outcome, Placing, Refusal } from './outcome.ts';
import type { Parts } from './state.ts';
import { recheckRoom } from '../reservation/capacity.ts';
import { wakeForPromise, wakeForRoom, type RoomTeller } from '../reservation/wakes.ts';

/** The next pod in its turn, if it is still one to place. */
export type Turn =
  | { turn: 'none' }
  | { turn: 'skip'; pod: PodInfo; deleting: boolean }
  /** Something is wrong with this pod, or here with regard to it. */
  | { turn: 'broken'; queued: QueuedPod; error: unknown }
  | { turn: 'try'; queued: QueuedPod; pod: PodInfo; profile: ProfileConfig };

export function nextTurn(parts: Parts): Turn {
  const queued = parts.queue.pop();
  return queued === undefined ? { turn: 'none' } : turnOf(parts, queued);
}

/** Whether a pod that was popped is still one to place. Never throws. */
export function turnOf(parts: Parts, queued: QueuedPod): Exclude<Turn, { turn: 'none' }> {
  try {
    return lookAt(parts, queued);
  } catch (error) {
    return { turn: 'broken', queued, error };
  }
}

function lookAt({ queue, latest, profileOf, cluster }: Parts, queued: QueuedPod): Exclude<Turn, { turn: 'none' }> {
  const pod = latest(queued.info.key) ?? queued.info;
  const profile = profileOf(pod);
  const isGone = pod.uid !== queued.info.uid || pod.nodeName !== '' || profile === undefined;
  if (isGone || pod.terminating || cluster.placed(pod.uid) !== undefined) {
    queue.done(queued.info.uid);
    return { turn: 'skip', pod: queued.info, deleting: pod.terminating && !isGone };
  }
  if (pod.unreadable !== undefined) throw new TypeError(`the pod cannot be read: ${pod.unreadable}`);
  return { turn: 'try', queued, pod, profile };
}

/** One whole attempt, in one turn: decides, and has the decision count. What is to be done outside is in the answer. */
export function attempt(parts: Parts, teller: RoomTeller, { queued, pod, profile }: Extract<Turn, { turn: 'try' }>): Outcome {
  const decision = parts.engine.decide(pod, profile, firstChoice(parts, pod));
  if (decision.placed) return { did: 'placed', ...place(parts, teller, queued, pod, profile, decision.node) };
  const { error } = decision;
  const made = makeRoom(parts, pod, profile, error);
  return { did: 'refused', ...refuse(parts, queued, pod, error, made, likewiseOf(parts, pod, error)) };
}

/** A node that is promised to the pod, or where room is kept for it. */
export function firstChoice({ nominator, reservations, config }: Parts, pod: PodInfo): string | undefined {
  const nominated = nominator.nodeOf(pod.uid);
  if (nominated !== undefined) return nominated;
  return config.reservation.placement === 'prefer' ? reservations.of(pod)?.node : undefined;
}

/** From now on the pod counts on this node; promises to it are kept, room for it is released. */
export function place(parts: Parts, teller: RoomTeller, queued: QueuedPod, pod: PodInfo, profile: ProfileConfig, node: string): Placing {
  const { cluster, queue, nominator, reservations, claimUsers, volumes } = parts;
  const state = cluster.node(node);
  const decided =
    state?.node === undefined ? { reserve: [], provision: [] } : volumes.decide(pod, profile, state.node, [...state.pods.values()]);
  cluster.assume(pod, node);
  claimUsers.add(pod, node);
  queue.assumed(pod.uid);
  const promised = nominator.delete(pod.uid);
  const released = reservations.assumed(pod);
  if (released !== undefined && released.node !== node) wakeForRoom(parts, released.ghost, released.priority);
  if (promised !== undefined && promised !== node) wakeForPromise(parts, pod, promised);
  if (reservations.on(node).length > 0) recheckRoom(parts, teller, node);
  return { queued, pod, node, volumes: decided, released };
}

/**
 * The pod waits again, perhaps for others to make room for it: from now on that room is promised to it.
 * @param likewise - as of {@link Failure}
 */
export function refuse(
  parts: Parts,
  queued: QueuedPod,
  pod: PodInfo,
  error: FitError,
  { message, chosen, keepsPromise }: Pick<MadeRoom, 'message' | 'chosen' | 'keepsPromise'>,
  likewise?: string,
): Refusal {
  const { cluster, queue, reservations, nominator, now } = parts;
  const failure: Failure =
    error.by.size === 0 ? { why: 'error' } : { why: 'refused', by: error.by, short: shortIn(error.reasons.keys()), likewise };
  if (chosen !== undefined) queue.hold(pod.uid);
  queue.requeue(queued, failure, pod);
  reservations.podFailed(pod, now());
  const promised = nominator.nodeOf(pod.uid);
  const unnominate = chosen === undefined ? [] : displacedFrom(parts, chosen.node, pod);
  if (chosen !== undefined) {
    // One that went while an extender was asked has no end any more that would take it out again.
    for (const { uid } of chosen.victims) if (cluster.placed(uid) !== undefined) parts.victims.add(uid);
    for (const { uid } of unnominate) nominator.delete(uid);
    nominator.add(pod, chosen.node);
  } else if (!keepsPromise) nominator.delete(pod.uid);
  // At once: what its status says need not change for it, when nobody ever wrote it there.
  if (promised !== undefined && nominator.nodeOf(pod.uid) !== promised) wakeForPromise(parts, pod, promised);
  return {
    queued,
    pod,
    reason: 'Unschedulable',
    message,
    nominate: chosen?.node ?? (keepsPromise ? undefined : taken(promised, pod)),
    preempt: chosen && { chosen, unnominate },
  };
}

/** Something went wrong on the way: the pod is tried again, later each time. */
export function fail(parts: Parts, queued: QueuedPod, pod: PodInfo, message: string): Refusal {
  const promised = parts.nominator.delete(pod.uid);
  const latest = latestOf(parts, pod);
  parts.queue.requeue(queued, { why: 'error' }, latest);
  if (promised !== undefined) wakeForPromise(parts, pod, promised);
  return { queued, pod, reason: 'SchedulerError', message, nominate: taken(promised, latest), preempt: undefined };
}

/** It is the failure of this pod that is to be told, whatever else fails. */
function latestOf({ latest }: Pick<Parts, 'latest'>, pod: PodInfo): PodInfo {
  try {
    return latest(pod.key) ?? pod;
  } catch {
    return pod;
  }
}

/** Nothing is promised any more. Its status may say so of a promise that ended here when the pod seemed to have a place. @returns as {@link Refusal.nominate} */
function taken(promised: string | undefined, pod: PodInfo): '' | undefined {
  return promised !== undefined || nominatedNodeOf(pod) !== '' ? '' : undefined;
}
