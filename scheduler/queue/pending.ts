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
  NodeUnschedulable: 'a node is added or uncordoned',
  NodeName: 'a node of that name is added',
  TaintToleration: 'a node is added or loses a taint, or the pod gets a toleration',
  NodeAffinity: 'a node that matches its node selector and affinity is added, or gets such labels',
  NodePorts: 'a pod that uses one of the host ports is deleted, or a node is added',
  NodeResourcesFit:
    'a pod that uses the missing resource is deleted or shrinks; a node is added or gets more of it; the pod itself requests less',
  VolumeRestrictions: 'a pod that shares its disk or claim is deleted, or one of its claims changes',
  NodeVolumeLimits:
    'a pod with volumes is deleted, a volume is detached, a node is added, or a node gets the driver or allows more volumes',
  VolumeBinding: 'a volume, claim, storage class or storage capacity is added or changes; a node is added or its labels change',
  VolumeZone: 'a node is added or its zone changes; one of its claims or volumes changes',
  PodTopologySpread: 'pods that its constraints select are added, deleted or relabeled; nodes are added, deleted or change topology domain',
  InterPodAffinity:
    'a pod that its affinity selects is added, or one that keeps it away by anti-affinity is deleted; nodes are added, deleted or relabeled',
  Extender: 'anything in the cluster changes',
  NodeDeclaredFeatures: 'a node that declares the required features is added, or declares them',
  SchedulingGates: 'its last scheduling gate is removed',
  PodLimits: 'never: create the pod again within the limits that its event names',
  DynamicResources:
    'a node gets the resource from a device plugin; otherwise never: create the pod again for a scheduler with dynamic resource allocation',
  GangScheduling: 'never: create the pod again for a scheduler that schedules pods of a group together',
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
  if (held) return ['the preempted pods are deleted'];
  return pool === 'unschedulable' ? retryConditionsOf(rejectors) : [];
}

function asItIs(at: Millis): Millis {
  return at;
}
