import type { Millis } from '../../base/clock.ts';
import type { Rejector } from '../plugins/names.ts';
import type { Found, PoolName, SchedulingQueue } from './contract.ts';

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

/** What has a pod tried again that was refused. */
const retryConditions: Readonly<Record<Rejector, string>> = {
  NodeUnschedulable: 'a node that is new, or uncordoned',
  NodeName: 'a node of that name',
  TaintToleration: 'a node without taints that the pod does not tolerate, or a toleration more',
  NodeAffinity: 'a node that matches the node selector and affinity, new or by other labels',
  NodePorts: 'a pod that leaves one of the host ports, or a new node',
  NodeResourcesFit:
    'a pod that leaves, or asks for less of, what is short; a node that is new or has more of it; the pod itself asking for less',
  VolumeRestrictions: 'a pod that leaves a disk or claim they share, or another state of its claims',
  NodeVolumeLimits: 'a pod with volumes that leaves, a new node, or one that takes more volumes',
  VolumeBinding:
    'a volume, claim, storage class, or storage capacity that is new or other than it was; a node that is new or has other labels',
  VolumeZone: 'a node that is new or in another zone, or another state of its claims and their volumes',
  PodTopologySpread: 'pods that are counted coming, going or changing labels; nodes that come, go or change domains',
  InterPodAffinity: 'a pod it wants to be near to, or the end of one that keeps it away; nodes that come, go or change labels',
  Extender: 'anything that happens',
  SchedulingGates: 'the end of its last scheduling gate',
  PodLimits: 'nothing here: the pod has to be created again with less of what there is too much of',
  DynamicResources: 'nothing here: resource claims are not served; the pod has to be made again without them',
};

/** What has a pod tried again that these refused, as people read it. */
export function retryConditionsOf(rejectedBy: Iterable<Rejector>): string[] {
  return [...rejectedBy].toSorted().map((rejector) => retryConditions[rejector]);
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
  if (pool === 'gated') return [retryConditions.SchedulingGates];
  if (held) return ['the pods in its way being gone'];
  return pool === 'unschedulable' ? retryConditionsOf(rejectors) : [];
}

function asItIs(at: Millis): Millis {
  return at;
}
