import type { LocalApi } from '../../../../apiserver/local-api.ts';
import type { Clock } from '../../../../base/clock.ts';
import type { Parts } from './world.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { atLeastASecond, whyNotOnNode, whySetMakesNone } from '../../../../scheduler/reservation/lifetime.ts';
import { isPlaceholderFor } from '../../../../scheduler/placeholder/plan.ts';
import type { Node, Pod, StatefulSet } from '../../../../scheduler/types.ts';
import type { Reservation, Reservations } from '../../../../scheduler/reservation/contract.ts';

const list = <T>(api: LocalApi, kind: string): T[] => api.hooks.storage.list(kind).objects as unknown as T[];

interface Audited {
  readonly api: LocalApi;
  readonly clock: Clock;
  readonly parts: Parts;
}

/** What the scheduler has wrong when everything has come to rest, compared with the API itself. */
export function audit(audited: Audited): string[] {
  const { api, parts } = audited;
  const living = list<Pod>(api, '/pods').filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
  const kept = parts.reservations.list();
  // A placeholder pod counts as its reservation.
  const infos = living.map((pod) => podInfoOf(pod)).filter((info) => !kept.some((reservation) => isPlaceholderFor(reservation, info)));
  return [
    ...nodesOf(parts, list<Node>(api, '/nodes'), infos),
    ...waitingOf(parts, infos),
    ...nominationsOf(parts, infos),
    ...problemsOf(parts.reservations, (one) => whatIsWrong(one, audited, infos)),
  ];
}

/** Everything on nodes counts, and counts once. */
function nodesOf({ cluster }: Parts, nodes: readonly Node[], pods: readonly PodInfo[]): string[] {
  const problems: string[] = [];
  if (cluster.nodeCount !== nodes.length) problems.push(`${cluster.nodeCount} nodes are known, and there are ${nodes.length}`);
  const placed = new Map([...cluster.placedPods()].map((one) => [one.info.uid, one]));
  for (const pod of pods.filter(({ nodeName }) => nodeName !== '')) {
    const known = placed.get(pod.uid);
    placed.delete(pod.uid);
    if (known?.state.name !== pod.nodeName) problems.push(`${pod.key} is on ${pod.nodeName}, and not ${known?.state.name}`);
    if (known?.at === 'assumed') problems.push(`${pod.key} is still assumed`);
  }
  for (const { info, state, at } of placed.values())
    problems.push(`${info.key} ${info.uid} counts on ${state.name} (${at}) and is not there`);
  for (const { metadata } of nodes) {
    const state = cluster.node(metadata.name ?? '');
    const here = pods.filter(({ nodeName }) => nodeName === metadata.name);
    const sum = (of: (pod: PodInfo) => number): number => here.reduce((total, pod) => total + of(pod), 0);
    const counted = [state?.usedCpu, state?.usedMemory, state?.podCount];
    const real = [sum(({ requests }) => requests.cpu), sum(({ requests }) => requests.memory), here.length];
    if (String(counted) !== String(real)) problems.push(`node ${metadata.name} counts ${String(counted)} instead of ${String(real)}`);
  }
  return problems;
}

/** Whoever has no place is in the queue, knows why, and would not be placed if it was tried now. */
function waitingOf({ queue, profileOf, engine, config, reservations }: Parts, pods: readonly PodInfo[]): string[] {
  const problems: string[] = [];
  const queued = new Map([...queue.list()].map((found) => [found.queued.info.uid, found]));
  for (const pod of pods) {
    const profile = profileOf(pod);
    if (pod.nodeName !== '' || pod.terminating || profile === undefined) continue;
    const found = queued.get(pod.uid);
    queued.delete(pod.uid);
    if (found === undefined) problems.push(`${pod.key} is forgotten`);
    else if (found.pool === 'in-flight') problems.push(`${pod.key} is in flight for ever`);
    else if (found.held) problems.push(`${pod.key} is held`);
    const condition = pod.pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (found?.pool !== 'gated' && condition?.status !== 'False') problems.push(`${pod.key} is not told why it waits`);
    if (found?.pool !== 'unschedulable') continue;
    const first = config.reservation.placement === 'prefer' ? reservations.of(pod)?.node : undefined;
    if (engine.decide(pod, profile, first).placed) problems.push(`${pod.key} waits, and would find a place`);
  }
  for (const { queued: heldPod, pool } of queued.values())
    problems.push(`the queue has ${heldPod.info.key} ${heldPod.info.uid} (${pool}) and it is gone`);
  return problems;
}

function nominationsOf({ nominator, victims }: Parts, pods: readonly PodInfo[]): string[] {
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
  const promised = [...nominator.nodes].flatMap((node) => nominator.on(node).map(({ uid, key }) => ({ node, uid, key })));
  return [
    ...promised
      .filter(({ uid }) => byUid.get(uid)?.nodeName !== '')
      .map(({ node, key }) => `${node} is promised to ${key}, which is gone or has a place`),
    ...[...victims].filter((uid) => !byUid.has(uid)).map((uid) => `${uid} is gone and still said to have to go`),
  ];
}

/** What must not be at any time: watches the storage itself. @param isExcused - nodes may be too full, and pods wrongly told about */
export class Witness {
  readonly problems: string[] = [];
  readonly #nodeOf = new Map<string, string>();

  constructor({ hooks: { storage } }: LocalApi, isExcused: () => boolean = () => false) {
    storage.onChange((kind, { object, type }) => {
      if (kind !== '/pods') return;
      const pod = object as Pod;
      const { uid = '', namespace, name } = pod.metadata;
      const { nodeName = '' } = pod.spec ?? {};
      const before = this.#nodeOf.get(uid) ?? '';
      if (type === 'DELETED') {
        this.#nodeOf.delete(uid);
        return;
      }
      if (before !== '' && before !== nodeName) this.problems.push(`${namespace}/${name} goes from ${before} to ${nodeName}`);
      if (nodeName !== '' && !isExcused() && pod.status?.conditions?.some((one) => one.type === 'PodScheduled' && one.status === 'False'))
        this.problems.push(`${namespace}/${name} is on ${nodeName}, and said to have no place`);
      if (nodeName === '') return;
      this.#nodeOf.set(uid, nodeName);
      if (before === '' && !isExcused())
        this.#full(nodeName, storage.list('/pods').objects as unknown as Pod[], storage.get('/nodes', nodeName) as Node | undefined);
    });
  }

  #full(name: string, pods: readonly Pod[], node: Node | undefined): void {
    const here = pods.filter(({ spec, status }) => spec?.nodeName === name && status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
    const used = here.reduce((sum, pod) => sum + podInfoOf(pod).requests.cpu, 0);
    const allocatable = 1_000 * Number(node?.status?.allocatable?.['cpu'] ?? 0);
    if (node !== undefined && used > allocatable && node.metadata.annotations?.['shrunk'] === undefined)
      this.problems.push(`${used}m of ${allocatable}m are taken on ${name}: ${here.map(({ metadata }) => metadata.name).join(' ')}`);
  }
}

/** What is wrong with what is kept: nothing, or there is a mistake in who told of changes, or here. */
function problemsOf(kept: Reservations, wrongWith: (one: Reservation) => string[]): string[] {
  const problems = kept.list().flatMap((one) => wrongWith(one).map((what) => `${one.namespace}/${one.name}: ${what}`));
  const slots = kept.list().map(({ heldPod }) => heldPod.key);
  if (new Set(slots).size !== slots.length) problems.push('there are two reservations of one name');
  const byNode = [...kept.nodes].flatMap((node) => kept.on(node));
  if (byNode.length !== kept.size || !kept.list().every((one) => byNode.includes(one))) problems.push('the list of nodes says otherwise');
  const earliest = kept.list().map(({ expiresAt }) => expiresAt);
  if (kept.nextExpiry !== (earliest.length === 0 ? undefined : Math.min(...earliest))) problems.push('the next expiry is another');
  return problems;
}

function whatIsWrong(reservation: Reservation, { api, clock, parts }: Audited, pods: readonly PodInfo[]): string[] {
  const { owner, name, node, heldPod, state, claimant, expiresAt, createdAt, failedAt } = reservation;
  const problems: string[] = [];
  if (pods.some((pod) => pod.key === heldPod.key && pod.nodeName !== '')) problems.push('a pod of that name is on a node');
  const now = clock.now();
  if (expiresAt <= now) problems.push('it should have expired');
  const { ttlMs, claimedTtlMs } = atLeastASecond(parts.config.reservation);
  // 10 s for each binding that fails: from the last one on.
  const latest = Math.max((failedAt ?? createdAt + ttlMs) + claimedTtlMs, now + 10_000);
  if (expiresAt > latest) problems.push('it is kept for too long');
  const set = list<StatefulSet>(api, 'apps/statefulsets').find(({ metadata }) => metadata.uid === owner.uid);
  const unwanted = whySetMakesNone(set, owner, name, (schedulerName) => parts.config.profiles.has(schedulerName));
  if (unwanted !== undefined) problems.push(unwanted);
  const there = list<Node>(api, '/nodes').find(({ metadata }) => metadata.name === node);
  const barred = whyNotOnNode(node, there, heldPod.pod.spec, state === 'claimed');
  if (barred !== undefined) problems.push(barred);
  if ((state === 'claimed') !== (claimant !== undefined)) problems.push('it is claimed by nobody, or by somebody unsaid');
  if (heldPod.nodeName !== node || heldPod.terminating) problems.push('its heldPod is elsewhere, or on its way out');
  return problems;
}
