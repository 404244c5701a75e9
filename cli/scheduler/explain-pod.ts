import type { SchedulerConfig } from '../../scheduler/config/config.ts';
import type { Explained, PodFacts, RunningFacts } from '../../scheduler/explain.ts';
import type { Pending } from '../../scheduler/queue/contract.ts';
import { podInfoOf } from '../../scheduler/pod/pod-info.ts';
import type { ReservationView } from '../../scheduler/reservation/reporting.ts';
import type { Pod } from '../../scheduler/types.ts';
import { isFullyBound, selectedNodeOf } from '../../scheduler/volumes/claims.ts';
import { volumeSourcesOf } from '../../scheduler/volumes/pod-volumes.ts';

const nameOf = ({ metadata: { namespace = '', name = '' } }: Pod): string => `${namespace}/${name}`;

/** Why a pod is not to be scheduled, from the pod alone: one line. Undefined: it is waiting for a node. Pure. */
export function explainSettled(pod: Readonly<Pod>, config: Pick<SchedulerConfig, 'profiles'>): Explained | undefined {
  const { metadata, spec, status } = pod;
  const line = (reason: string, detail: string): Explained => ({ object: nameOf(pod), reason, detail });
  const node = spec?.nodeName ?? '';
  const where = node === '' ? 'it had no node' : `it was on node ${node}`;
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed')
    return line('ended', `it has terminated (${status.phase}) and uses no resources; ${where}`);
  if (metadata.deletionTimestamp !== undefined) {
    const stays = node === '' ? 'it will not be scheduled' : `it uses resources of node ${node} until it is deleted`;
    return line('deleting', `terminating, grace period ends at ${metadata.deletionTimestamp}; ${stays}`);
  }
  if (node !== '') return line('bound', `it is on node ${node}${since(pod)}`);
  const scheduler = spec?.schedulerName ?? 'default-scheduler';
  if (!config.profiles.has(scheduler))
    return line(
      'other-scheduler',
      `its spec.schedulerName is ${scheduler}, which is not a profile of this scheduler (${[...config.profiles.keys()].join(', ')}); without a scheduler of that name it stays pending`,
    );
  const gates = spec?.schedulingGates?.map(({ name }) => name) ?? [];
  if (gates.length > 0) return line('gated', `it is not scheduled until its scheduling gates are removed: ${gates.join(', ')}`);
  return undefined;
}

function since({ status }: Pod): string {
  const scheduled = status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'True');
  const at = scheduled?.lastTransitionTime ?? status?.startTime;
  return at === undefined ? '' : ` since ${at}`;
}

/** In addition to the decision: the pod's nomination, its volumes being bound, reservations, and its state in the queue. Pure. */
export function explainFacts(facts: Pick<PodFacts, 'pod' | 'config' | 'running' | 'claims' | 'volumes'>): Explained[] {
  const { pod, config, running } = facts;
  const object = nameOf(pod);
  const nominated = pod.status?.nominatedNodeName ?? '';
  const lines: Explained[] = [];
  if (nominated !== '') {
    const binding = claimsBeingBound(facts, nominated);
    const detail =
      binding.length > 0
        ? `its volumes are being bound for this node; not bound yet: ${binding.join(', ')}; see the events of claims and the storage provisioner`
        : 'pods there are preempted for this one; it may still be scheduled elsewhere';
    lines.push({ object: nominated, reason: 'nominated', detail });
  }
  if (running === undefined) {
    const detail = 'reservations for pods that are updated are known only to the running scheduler; ask it with --debug-address';
    if (config.reservation.enabled) lines.push({ object, reason: 'kept-room-unknown', detail });
    return lines;
  }
  return [...lines, ...reservationRows(pod, running), ...inQueue(object, running)];
}

/** Claims of the pod that wait for a volume on this node. */
function claimsBeingBound({ pod, claims, volumes }: Pick<PodFacts, 'pod' | 'claims' | 'volumes'>, node: string): string[] {
  const { namespace = '' } = pod.metadata;
  return volumeSourcesOf(podInfoOf(pod)).claims.flatMap(({ name }) => {
    const claim = claims.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (claim === undefined || isFullyBound(claim)) return [];
    const isReserved = volumes.some(({ spec }) => spec?.claimRef?.uid !== undefined && spec.claimRef.uid === claim.metadata.uid);
    return isReserved || selectedNodeOf(claim) === node ? [`${namespace}/${name}`] : [];
  });
}

/** Reservations that this pod must respect, and its own. */
function reservationRows({ metadata, spec }: Pod, { reservations: kept }: RunningFacts): Explained[] {
  const isOwn = (reservation: ReservationView): boolean =>
    reservation.namespace === metadata.namespace && reservation.name === metadata.name;
  const priority = spec?.priority ?? 0;
  return kept
    .filter((reservation) => isOwn(reservation) || reservation.priority >= priority)
    .map((reservation) => {
      const until = `until ${reservation.expiresAt}: ${reservation.why}`;
      if (isOwn(reservation))
        return { object: reservation.node, reason: 'own-room', detail: `${amounts(reservation)} reserved for this pod ${until}` };
      return {
        object: reservation.node,
        reason: 'kept-room',
        detail: `${amounts(reservation)} reserved for ${reservation.namespace}/${reservation.name} ${until}`,
      };
    });
}

function amounts({ requests }: ReservationView): string {
  const each = Object.entries(requests).map(([name, amount]) => `${name} ${amount}`);
  return each.length === 0 ? 'a pod slot is' : `${each.join(', ')} ${each.length === 1 ? 'is' : 'are'}`;
}

function inQueue(object: string, { pending, unlisted }: RunningFacts): Explained[] {
  if (pending === undefined && unlisted > 0) {
    const detail = `unknown: the running scheduler lists only its first pending pods, and has ${unlisted} more`;
    return [{ object, reason: 'not-listed', detail }];
  }
  if (pending === undefined) return [{ object, reason: 'not-queued', detail: 'it is not among the pending pods of the running scheduler' }];
  const { pool, held, attempts, backoffUntil, flushAt, wakesOn } = pending;
  const tried = attempts === 1 ? 'tried once' : `tried ${attempts} times`;
  return [{ object, reason: held ? 'held' : pool, detail: `${tried}; ${poolText({ pool, held, backoffUntil, flushAt })}` }, ...wakesOn.map((detail) => ({ object, reason: 'retried-when', detail }))]; // prettier-ignore
}

function poolText({ pool, held, backoffUntil, flushAt }: Pick<Pending, 'pool' | 'held' | 'backoffUntil' | 'flushAt'>): string {
  if (held) return 'waiting for preemption';
  switch (pool) {
    case 'in-flight':
      return 'being scheduled or bound right now';
    case 'active':
      return 'waiting in the active queue, ordered by priority, then age';
    case 'backoff':
      return `in backoff after a failure${backoffUntil === null ? '' : `, until ${backoffUntil}`}`;
    case 'unschedulable':
      return `waiting for a change in the cluster${flushAt === null ? '' : `, or for a retry at ${flushAt}`}`;
    case 'gated':
      return 'waiting for its scheduling gates to be removed';
  }
}
