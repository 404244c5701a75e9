import type { SchedulerConfig } from '../../scheduler/config/config.ts';
import type { Explained, PodFacts, RunningFacts } from '../../scheduler/explain-facts.ts';
import type { Pending } from '../../scheduler/queue/pending.ts';
import type { KeptRoom } from '../../scheduler/reservation/kept-room.ts';
import type { Pod } from '../../scheduler/types.ts';

const nameOf = ({ metadata: { namespace = '', name = '' } }: Pod): string => `${namespace}/${name}`;

/** Why a pod is nothing to be scheduled, which the pod itself says: one line. Undefined: it waits for a place. Pure. */
export function explainSettled(pod: Readonly<Pod>, config: Pick<SchedulerConfig, 'profiles'>): Explained | undefined {
  const { metadata, spec, status } = pod;
  const line = (reason: string, detail: string): Explained => ({ object: nameOf(pod), reason, detail });
  const node = spec?.nodeName ?? '';
  const where = node === '' ? 'it had no node' : `it was on node ${node}`;
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed')
    return line('ended', `it has ended (${status.phase}) and takes no room any more; ${where}`);
  if (metadata.deletionTimestamp !== undefined) {
    const stays = node === '' ? 'nobody looks for a place for it' : `it takes its room on node ${node} until it is gone`;
    return line('deleting', `it is being deleted, to be gone by ${metadata.deletionTimestamp}; ${stays}`);
  }
  if (node !== '') return line('bound', `it is on node ${node}${since(pod)}`);
  const scheduler = spec?.schedulerName ?? 'default-scheduler';
  if (!config.profiles.has(scheduler))
    return line(
      'other-scheduler',
      `its spec.schedulerName is ${scheduler}, which is for another scheduler than this one (${[...config.profiles.keys()].join(', ')}); if none has that name it waits for ever`,
    );
  const gates = spec?.schedulingGates?.map(({ name }) => name) ?? [];
  if (gates.length > 0)
    return line('gated', `nobody looks for a place before its scheduling gates are removed, by whoever set them: ${gates.join(', ')}`);
  return undefined;
}

function since({ status }: Pod): string {
  const scheduled = status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'True');
  const at = scheduled?.lastTransitionTime ?? status?.startTime;
  return at === undefined ? '' : ` since ${at}`;
}

/** Beside the decision itself: what the pod was promised, what room is kept, how it stands in the queue. Pure. */
export function explainStanding({ pod, config, running }: Pick<PodFacts, 'pod' | 'config' | 'running'>): Explained[] {
  const object = nameOf(pod);
  const nominated = pod.status?.nominatedNodeName ?? '';
  const lines: Explained[] = [];
  if (nominated !== '')
    lines.push({ object: nominated, reason: 'nominated', detail: 'pods there make room for this one; it may still go elsewhere' });
  if (running === undefined) {
    const detail = 'room that is kept for pods that upgrade is known to the running scheduler alone: --debug-address asks it';
    if (config.reservation.enabled) lines.push({ object, reason: 'kept-room-unknown', detail });
    return lines;
  }
  return [...lines, ...rooms(pod, running), ...inQueue(object, running)];
}

/** Rooms on nodes that this pod has to leave alone, and its own. */
function rooms({ metadata, spec }: Pod, { rooms: kept }: RunningFacts): Explained[] {
  const isOwn = (room: KeptRoom): boolean => room.namespace === metadata.namespace && room.name === metadata.name;
  const priority = spec?.priority ?? 0;
  return kept
    .filter((room) => isOwn(room) || room.priority >= priority)
    .map((room) => {
      const until = `until ${room.expiresAt}: ${room.why}`;
      if (isOwn(room)) return { object: room.node, reason: 'own-room', detail: `${amounts(room)} kept for this pod ${until}` };
      return { object: room.node, reason: 'kept-room', detail: `${amounts(room)} kept for ${room.namespace}/${room.name} ${until}` };
    });
}

function amounts({ requests }: KeptRoom): string {
  const each = Object.entries(requests).map(([name, amount]) => `${name} ${amount}`);
  return each.length === 0 ? 'a place is' : `${each.join(', ')} ${each.length === 1 ? 'is' : 'are'}`;
}

function inQueue(object: string, { pending, unlisted }: RunningFacts): Explained[] {
  if (pending === undefined && unlisted > 0) {
    const detail = `the running scheduler lists those that came first, and ${unlisted} more wait: whether it is one of them is not known`;
    return [{ object, reason: 'not-listed', detail }];
  }
  if (pending === undefined)
    return [{ object, reason: 'not-queued', detail: 'the running scheduler does not list it among those that wait' }];
  const { pool, held, attempts, backoffUntil, flushAt, wakesOn } = pending;
  const tried = attempts === 1 ? 'tried once' : `tried ${attempts} times`;
  return [{ object, reason: held ? 'held' : pool, detail: `${tried}; ${poolText({ pool, held, backoffUntil, flushAt })}` }, ...wakesOn.map((detail) => ({ object, reason: 'wakes-on', detail }))]; // prettier-ignore
}

function poolText({ pool, held, backoffUntil, flushAt }: Pick<Pending, 'pool' | 'held' | 'backoffUntil' | 'flushAt'>): string {
  if (held) return 'room is being made for it';
  switch (pool) {
    case 'in-flight':
      return 'a place is being looked for, or bound, right now';
    case 'active':
      return 'its turn comes by priority, then by age';
    case 'backoff':
      return `it waits after a failure${backoffUntil === null ? '' : `, until ${backoffUntil}`}`;
    case 'unschedulable':
      return `it waits for something to change${flushAt === null ? '' : `, and is tried again at ${flushAt} anyway`}`;
    case 'gated':
      return 'its scheduling gates hold it back';
  }
}
