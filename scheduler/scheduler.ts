import { describeError } from '../base/errors.ts';
import type { Client } from '../kube/client/client.ts';
import { serverWords } from '../kube/client/errors.ts';
import { controllerOf } from '../kube/controller/owner-refs.ts';
import type { Runnable } from '../kube/process/options.ts';
import type { Runtime } from '../kube/process/runtime.ts';
import type { SchedulerConfig } from './config/config.ts';
import { Binder } from './core/binder.ts';
import { cachesOf, type ServedKinds } from './informers.ts';
import { Loop } from './core/loop.ts';
import { MirrorBook } from './placeholder/seen-placeholders.ts';
import { Mirrors } from './placeholder/placeholders.ts';
import { makeParts, type Parts } from './core/state.ts';
import { ClaimedRoomKeeper } from './reservation/expiry.ts';
import { RoomOnSets } from './reservation/restore.ts';
import { Router } from './core/event-handlers.ts';
import { schedulerMeters } from './core/metrics.ts';
import { StatusWriter } from './core/status-writer.ts';
import { Unconfirmed } from './core/unconfirmed.ts';
import type { RoomTeller } from './reservation/wakes.ts';
import { Worker } from './core/binding-cycle.ts';
import { Extenders } from './extenders/chain.ts';
import { podInfoOf } from './pod/pod-info.ts';
import { servedBudgets } from './preempt/budgets.ts';
import { dumpQueue } from './queue/pending.ts';
import { atLeastASecond, longestTtl } from './reservation/deadlines.ts';
import { unseenEvent } from './reservation/events.ts';
import { keptRooms } from './reservation/kept-room.ts';
import { mirrorMeters } from './placeholder/mirror-meters.ts';
import { reservationMeters } from './reservation/reservation-meters.ts';
import { ClaimBinder } from './volumes/bind.ts';
import { servedStorageKinds } from './volumes/served-kinds.ts';

export type { ServedKinds } from './informers.ts';

/** What this server has of the kinds that not every server has. @throws what the client throws */
export async function servedKinds(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<ServedKinds> {
  // One after the other: a server that is away is asked one thing each time, and fails with the same words.
  const budgets = await servedBudgets(client, signal);
  return { budgets, storage: await servedStorageKinds(client, signal) };
}

/**
 * The scheduler: places pods that name one of its profiles and have no node yet. Its caches, and room that is kept for upgrading pods, are kept up to date
 * from the beginning; it decides while it runs.
 * @param onMade - for whoever compares what it knows with what is
 * @see docs/scheduler.md
 */
export function schedulerRunnable(
  runtime: Runtime,
  config: SchedulerConfig,
  served: ServedKinds,
  onMade: (parts: Parts) => void = () => {},
): Runnable[] {
  const { client, clock, random, log, meters } = runtime;
  const caches = cachesOf(runtime, config, served);
  const parts = makeParts(caches, config, runtime, (key) => {
    const pod = caches.pods.get(key);
    return pod && podInfoOf(pod);
  });
  onMade(parts);
  const rooms = reservationMeters(meters, parts.reservations);
  const events = runtime.events([...config.profiles.keys()][0] ?? 'dkc-scheduler');
  const never = new AbortController().signal;
  const isOurs = (schedulerName: string): boolean => config.profiles.has(schedulerName);
  const { enabled, mirror, mirrorImage, persist } = config.reservation;
  const image = enabled && mirror ? mirrorImage : undefined;
  const book = image === undefined ? undefined : new MirrorBook({ cluster: parts.cluster, reservations: parts.reservations, isOurs });
  const kept = persist === 'annotation' ? new RoomOnSets(parts, client, log, book) : undefined;
  const state: { signal: AbortSignal | undefined } = { signal: undefined };
  const isAtWork = (): boolean => state.signal?.aborted === false;
  const teller: RoomTeller = {
    // Whoever stands by has the same rooms, and nothing to say of them.
    told: ({ owner, namespace }, { type, reason, message }) => {
      const { apiVersion, kind, name, uid } = owner;
      if (isAtWork()) events.event({ apiVersion, kind, metadata: { namespace, name, uid } }, type, reason, message);
    },
    ended: (result, { owner, name }) => {
      mirrors?.look();
      if (!isAtWork()) return;
      rooms.ended(result);
      kept?.ended(owner.uid, name);
    },
  };
  const schedulerCounts = schedulerMeters(meters, parts);
  const extenders =
    config.extenders.length === 0 ? undefined : new Extenders(config.extenders, { clock, log, scoreRange: config.compat.scoreRange });
  const hooks: { poke: () => void; abandon: (uid: string) => void } = { poke: () => {}, abandon: () => {} };
  const mirrors =
    image !== undefined && book !== undefined
      ? new Mirrors({
          book,
          reservations: parts.reservations,
          cluster: parts.cluster,
          client,
          clock,
          random,
          log,
          meters: mirrorMeters(meters),
          isOurs,
          image,
          longestMs: longestTtl(atLeastASecond(config.reservation)),
          onUnseen: (room, error) => teller.told(room, unseenEvent(room, serverWords(error))),
        })
      : undefined;
  const poke = (): void => {
    // First, for others look for room at this very moment.
    mirrors?.look();
    hooks.poke();
  };
  const router = new Router(parts, {
    ...teller,
    poke,
    mirrors: book,
    onLeaving: (facts) => {
      if (state.signal?.aborted === false) kept?.leaving(facts, state.signal);
    },
    onLeft: ({ pod }) => {
      if (isAtWork()) kept?.ended(controllerOf(pod)?.uid ?? '', pod.metadata.name ?? '');
    },
    onAbandoned: ({ uid }) => hooks.abandon(uid),
    onNote: (message, facts) => log.debug(message, facts),
    onBroken: (kind, object, error) =>
      log.error('an object could not be taken in; the scheduler goes on without it', { kind, object, error: describeError(error) }),
  });
  const binder = new Binder({ client, clock, random });
  const worker = new Worker({
    parts,
    router,
    teller,
    client,
    binder,
    volumes: new ClaimBinder({
      client,
      view: parts.volumes.view,
      caches: { claims: caches.storage.claims, volumes: caches.storage.volumes, nodes: caches.nodes },
      clock,
      timeoutMs: config.volumeBindTimeoutMs,
      freed: (event) => {
        parts.queue.wake(event);
        poke();
      },
    }),
    statuses: new StatusWriter({ client, clock, log, atOnce: config.api.maxInflightStatus }),
    extenders,
    mirrors,
    events,
    meters: schedulerCounts,
    clock,
    log,
    poke,
  });
  const keeper = new ClaimedRoomKeeper(parts, teller, client, () => state.signal ?? never);
  const unconfirmed = new Unconfirmed(parts, router, binder, () => state.signal ?? never);
  const loop = new Loop({
    parts,
    teller,
    worker,
    keeper,
    unconfirmed,
    extenders,
    caches: runtime.informers,
    meters: schedulerCounts,
    clock,
    log,
  });
  hooks.poke = loop.poke;
  hooks.abandon = (uid) => worker.abandon(uid);
  router.listen();
  runtime.dump('scheduler-queue', () => dumpQueue(parts.queue, config.unschedulableFlushMs, parts.shown));
  runtime.dump('reservations', () => keptRooms(parts.reservations.list(), parts.shown));
  runtime.dump('nominations', () =>
    [...parts.nominator.nodes].map((node) => ({ node, pods: parts.nominator.on(node).map(({ key, priority }) => ({ key, priority })) })),
  );
  const run = async (signal: AbortSignal): Promise<void> => {
    state.signal = signal;
    // Who takes the lease amid a relist sees its end first. Rejects only when the signal aborts, and then nothing more is done.
    await runtime.informers.whenSettled(signal).catch(() => {});
    log.info('scheduler runs', { nodes: parts.cluster.nodeCount, pods: parts.cluster.podCount, waiting: parts.queue.sizes.active });
    kept?.restore(teller, signal);
    mirrors?.begin(signal);
    try {
      await loop.run(signal);
    } finally {
      extenders?.close();
      await Promise.all([kept?.settled(), mirrors?.idle()]);
      log.info('scheduler has stopped', { binding: worker.binding });
    }
  };
  return [{ name: 'scheduler', run }];
}
