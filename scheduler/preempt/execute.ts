import type { PodCondition } from 'kubernetes-types/core/v1.js';
import { rfc3339, type Clock } from '../../base/clock.ts';
import { pods } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { isConflict, isNotFound } from '../../kube/client/errors.ts';
import { observedOf, type PodInfo } from '../pod/pod-info.ts';
import type { Pod } from '../types.ts';
import { DISRUPTION_TARGET, isTarget, PREEMPTED_BY_SCHEDULER } from './candidates.ts';

/** The event of a victim. */
export interface PreemptionEvent {
  readonly type: 'Normal';
  readonly reason: 'Preempted';
  readonly action: 'Preempting';
  readonly note: string;
}

export interface Preempter {
  client: Pick<Client, 'get' | 'patch' | 'delete'>;
  clock: Pick<Clock, 'now'>;
  recordEvent: (victim: Readonly<Pod>, event: PreemptionEvent) => void;
  /** Requests in flight at once. @default 16 */
  atOnce?: number;
}

export interface Preemption {
  readonly preemptor: PodInfo;
  readonly node: string;
  readonly victims: readonly PodInfo[];
  /** Pods of lower priority that are nominated to the same node: their nomination is cleared. */
  readonly unnominate: readonly PodInfo[];
}

export interface Preempted {
  /** Why victims could not be deleted. If there are any, the node does not become feasible, and the preemptor must be retried. */
  readonly failures: readonly unknown[];
  /** Nominations that could not be cleared. A log line is enough: the next preemption on that node clears them. */
  readonly stillNominated: readonly { readonly pod: PodInfo; readonly error: unknown }[];
}

/**
 * Deletes the victims, and clears nominations of pods with lower priority to the node. The last victim is deleted after all others: the pods that its event
 * requeues find all of the capacity. If another one cannot be deleted the last one is kept, as its deletion would not help. Never throws.
 */
export async function executePreemption(by: Preempter, plan: Preemption, signal: AbortSignal): Promise<Preempted> {
  const { preemptor, node, victims, unnominate } = plan;
  const stay = victims.filter(({ terminating }) => !terminating);
  const { atOnce = 16 } = by;
  const remove = (victim: PodInfo): Promise<void> => removeVictim(by, victim, preemptor, node, signal);
  const [others, nominated] = await Promise.all([
    forEach(stay.slice(0, -1), remove, atOnce),
    forEach(unnominate, (pod) => clearNomination(by, pod, signal), atOnce),
  ]);
  const last = others.length === 0 ? await forEach(stay.slice(-1), remove, 1) : [];
  return {
    failures: [...others, ...last].map(({ error }) => error),
    stillNominated: nominated.map(({ item, error }) => ({ pod: item, error })),
  };
}

async function removeVictim(by: Preempter, victim: PodInfo, preemptor: PodInfo, node: string, signal: AbortSignal): Promise<void> {
  const { client, clock, recordEvent } = by;
  const { uid } = victim;
  const isThere =
    (isTarget(victim.pod) ||
      (await ifStillExists(by, victim, signal, async (ref) => {
        const condition: PodCondition & ReturnType<typeof observedOf> = {
          type: DISRUPTION_TARGET,
          status: 'True',
          reason: PREEMPTED_BY_SCHEDULER,
          message: `${preemptor.schedulerName}: preempting to accommodate a higher priority pod`,
          lastTransitionTime: rfc3339(clock.now()),
          ...observedOf(victim.pod),
        };
        const change = { metadata: { uid }, status: { conditions: [condition] } };
        await client.patch(pods, ref, change, { type: 'strategic', subresource: 'status', signal });
      }))) &&
    (await ifStillExists(by, victim, signal, (ref) => client.delete(pods, ref, { body: { preconditions: { uid } }, signal })));
  if (!isThere) return;
  const note = `Preempted by pod ${preemptor.uid} on node ${node}`;
  recordEvent(victim.pod, { type: 'Normal', reason: 'Preempted', action: 'Preempting', note });
}

async function clearNomination(by: Preempter, pod: PodInfo, signal: AbortSignal): Promise<void> {
  const change = { metadata: { uid: pod.uid }, status: { nominatedNodeName: null } };
  await ifStillExists(by, pod, signal, async (ref) => {
    await by.client.patch(pods, ref, change, { type: 'merge', subresource: 'status', signal });
  });
}

/**
 * Makes a request about the pod with this UID.
 * @returns false when that pod no longer exists, also if another one has its name by now
 */
async function ifStillExists(
  { client }: Pick<Preempter, 'client'>,
  { namespace, name, uid }: PodInfo,
  signal: AbortSignal,
  act: (ref: { namespace: string; name: string }) => Promise<void>,
): Promise<boolean> {
  const ref = { namespace, name };
  try {
    await act(ref);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    // 409: the UID differs, or another conflict.
    if (!isConflict(error) || (await isStillThere(client, ref, uid, signal))) throw error;
    return false;
  }
}

async function isStillThere(
  client: Preempter['client'],
  ref: { namespace: string; name: string },
  uid: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await client.get(pods, ref, { signal })).metadata.uid === uid;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Calls `act` for each item, several at once, and goes on after failures. @returns the failures */
async function forEach<T>(items: readonly T[], act: (item: T) => Promise<void>, atOnce: number): Promise<{ item: T; error: unknown }[]> {
  const failed: { item: T; error: unknown }[] = [];
  const left = items.values();
  const work = async (): Promise<void> => {
    // All workers share one iterator.
    for (const item of left) await act(item).catch((error: unknown) => void failed.push({ item, error }));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return failed;
}
