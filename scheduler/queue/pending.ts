import type { Millis } from '../../base/clock.ts';
import type { Rejector } from '../plugins/names.ts';
import type { Found, PoolName, SchedulingQueue } from './contract.ts';
import { retryConditionsOf } from './hints.ts';

/** How a pod without a place stands, as JSON can say it. Moments are ISO 8601. */
export interface Pending {
  namespace: string;
  name: string;
  uid: string;
  priority: number;
  pool: PoolName | 'in-flight';
  /** Room is being made for it. */
  held: boolean;
  attempts: number;
  refusals: number;
  errors: number;
  since: string;
  queuedAt: string;
  /** Not tried before. */
  backoffUntil: string | null;
  /** Tried then at the latest. */
  flushAt: string | null;
  rejectedBy: Rejector[];
  /** Of what there was too little, where that is known. */
  short: string[];
  /** What has it tried again, as people read it. */
  wakesOn: string[];
}

export interface PendingDump {
  pools: Readonly<Record<PoolName, number>>;
  inFlight: number;
  pods: Pending[];
}

/** @param flushMs - after how long without an attempt a refused pod is tried again anyway. @param shown - what the wall clock shows at a moment of the queue's */
export function pendingOf({ pool, queued, backoffUntil, held }: Found, flushMs: Millis, shown = asItIs): Pending {
  const { info, attempts, refusals, errors, since, queuedAt, rejectedBy, short } = queued;
  const rejectors = [...rejectedBy].toSorted();
  const iso = (at: Millis): string => new Date(shown(at)).toISOString();
  return {
    namespace: info.namespace,
    name: info.name,
    uid: info.uid,
    priority: info.priority,
    pool,
    held,
    attempts,
    refusals,
    errors,
    since: iso(since),
    queuedAt: iso(queuedAt),
    backoffUntil: backoffUntil === undefined ? null : iso(backoffUntil),
    flushAt: pool === 'unschedulable' && !held ? iso(queuedAt + flushMs) : null,
    rejectedBy: rejectors,
    short: [...(short ?? [])].toSorted(),
    wakesOn: retryConditionsIn(pool, held, rejectors),
  };
}

/** The whole queue. @param shown - as of {@link pendingOf}. @param most - pods that are listed; all are counted */
export function dumpQueue(
  queue: Pick<SchedulingQueue, 'sizes' | 'inFlight' | 'list'>,
  flushMs: Millis,
  shown = asItIs,
  most = 1_000,
): PendingDump {
  const pods: Pending[] = [];
  for (const found of queue.list()) {
    if (pods.length >= most) break;
    pods.push(pendingOf(found, flushMs, shown));
  }
  return { pools: queue.sizes, inFlight: queue.inFlight, pods };
}

function retryConditionsIn(pool: Found['pool'], held: boolean, rejectors: readonly Rejector[]): string[] {
  if (pool === 'gated') return retryConditionsOf(['SchedulingGates']);
  if (held) return ['the preempted pods are deleted'];
  return pool === 'unschedulable' ? retryConditionsOf(rejectors) : [];
}

function asItIs(at: Millis): Millis {
  return at;
}
