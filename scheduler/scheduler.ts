import type { Client } from '../kube/client/client.ts';
import { serverMessageOf } from '../kube/client/errors.ts';
import type { Runnable, Runtime } from '../kube/process/contract.ts';
import type { SchedulerConfig } from './config/config.ts';
import type { SchedulerHooks } from './core/hooks.ts';
import { profileEvents, type ProfileEvents } from './core/reporting.ts';
import { SchedulerState } from './core/state.ts';
import { cycleRunnable } from './cycle.ts';
import { schedulerCaches, servedBudgets, servedDeviceClasses, servedStorageKinds, type ServedKinds } from './informers.ts';
import { placeholderHooks, SeenPlaceholders } from './placeholder/hooks.ts';
import { placeholderMeters, Placeholders } from './placeholder/placeholders.ts';
import type { Reservations } from './reservation/contract.ts';
import { atLeastASecond, longestTtl } from './reservation/lifetime.ts';
import { reservationMeters, reservationViews, unseenEvent } from './reservation/reporting.ts';
import { reservationHooks } from './reservation/hooks.ts';
import { createReservations } from './reservation/reservations.ts';
import { ReservationsOnSets } from './reservation/on-sets.ts';

export type { ServedKinds } from './informers.ts';

/** Discovers which of the optional kinds this server has. @throws what the client throws */
export async function servedKinds(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<ServedKinds> {
  // One request after the other: an unreachable server gets one request per try, which always fails with the same message.
  const budgets = await servedBudgets(client, signal);
  const deviceClasses = await servedDeviceClasses(client, signal);
  return { budgets, deviceClasses, storage: await servedStorageKinds(client, signal) };
}

/**
 * The scheduler: assigns pods that name one of its profiles and have no node yet. Its caches, and reservations for upgrading pods, are kept up to date from the
 * beginning; pods are scheduled only while the runnable runs.
 * @param onMade - for tests that compare its state with the cluster
 * @see docs/scheduler.md
 */
export function schedulerRunnable(
  runtime: Runtime,
  config: SchedulerConfig,
  served: ServedKinds,
  onMade: (made: { state: SchedulerState; reservations: Reservations }) => void = () => {},
): Runnable[] {
  const { clock, random } = runtime;
  const caches = schedulerCaches(runtime, config, served);
  const reservations = createReservations(config.reservation, (schedulerName) => config.profiles.has(schedulerName));
  const state = new SchedulerState({ caches, config, clock, random, held: reservations });
  onMade({ state, reservations });
  const events = profileEvents(runtime, config.profiles.keys());
  const hooks = hooksOf(runtime, state, reservations, events);
  runtime.dump('reservations', () => reservationViews(reservations.list(), state.shown));
  return [cycleRunnable(runtime, state, hooks, events)];
}

function hooksOf(runtime: Runtime, state: SchedulerState, reservations: Reservations, events: ProfileEvents): SchedulerHooks {
  const { client, clock, random, log, meters } = runtime;
  const { enabled, mirror, mirrorImage: image, persist } = state.config.reservation;
  const isOwnScheduler = (schedulerName: string): boolean => state.config.profiles.has(schedulerName);
  const seen = enabled && mirror && image !== undefined ? new SeenPlaceholders({ state, reservations, isOwnScheduler }) : undefined;
  const reservation = reservationHooks({
    state,
    reservations,
    placeholders: seen,
    onSets: persist === 'annotation' ? new ReservationsOnSets(state, reservations, client, log) : undefined,
    client,
    events,
    meters: reservationMeters(meters, reservations),
    log,
  });
  if (seen === undefined || image === undefined) return reservation;
  const placeholders = new Placeholders({
    seen,
    reservations,
    cluster: state.cluster,
    client,
    clock,
    random,
    log,
    meters: placeholderMeters(meters),
    isOwnScheduler,
    image,
    longestMs: longestTtl(atLeastASecond(state.config.reservation)),
    onUnseen: (room, error) => reservation.report(room, unseenEvent(room, serverMessageOf(error))),
  });
  return placeholderHooks(reservation, { reservations, seen, placeholders });
}
