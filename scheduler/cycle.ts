import { describeError } from '../base/errors.ts';
import { Trigger } from '../base/waiting.ts';
import type { Runnable, Runtime } from '../kube/process/contract.ts';
import { BackgroundTasks, Loop, UnconfirmedPods } from './core/loop.ts';
import { Binder, BindingCycle } from './core/binding-cycle.ts';
import { EventHandlers } from './core/event-handlers.ts';
import { FailureHandler } from './core/failure-handler.ts';
import type { SchedulerHooks } from './core/hooks.ts';
import { type ProfileEvents, schedulerMetrics } from './core/reporting.ts';
import { ScheduleOne } from './core/schedule-one.ts';
import type { SchedulerState } from './core/state.ts';
import { StatusWriter } from './core/status-writer.ts';
import { Extenders } from './extenders/chain.ts';
import { dumpQueue } from './queue/contract.ts';
import { VolumeBinder } from './volumes/bind.ts';

/**
 * Builds the scheduler on a state, with hooks at its phases. With {@link noHooks} it is a complete scheduler without reservations.
 * @returns a runnable that schedules and binds while this process is the leader; informer events are processed from the beginning
 */
export function cycleRunnable(runtime: Runtime, state: SchedulerState, hooks: SchedulerHooks, events: ProfileEvents): Runnable {
  const { client, clock, random, log, meters } = runtime;
  const { caches, config } = state;
  const metrics = schedulerMetrics(meters, state);
  const extenders =
    config.extenders.length === 0 ? undefined : new Extenders(config.extenders, { clock, log, scoreRange: config.compat.scoreRange });
  const trigger = new Trigger();
  const notify = (): void => {
    hooks.onChange();
    trigger.notify();
  };
  const handlers = new EventHandlers(state, {
    hooks,
    notify,
    onNote: (message, facts) => log.debug(message, facts),
    onBroken: (kind, object, error) => log.error('failed to process an object, skipping it', { kind, object, error: describeError(error) }),
  });
  const volumes = new VolumeBinder({
    client,
    view: state.volumes.view,
    caches: { claims: caches.storage.claims, volumes: caches.storage.volumes, nodes: caches.nodes },
    clock,
    timeoutMs: config.volumeBindTimeoutMs,
    freed: (event) => {
      state.pending.enqueueOn(event);
      notify();
    },
  });
  const tasks = new BackgroundTasks(log, notify);
  const statuses = new StatusWriter({ client, clock, log, atOnce: config.api.maxInflightStatus });
  const failures = new FailureHandler({ state, hooks, client, statuses, events, tasks, metrics, clock, log });
  const binder = new Binder({ client, clock, random, log });
  const binding = new BindingCycle({ state, failures, binder, volumes, statuses, extenders, events, tasks, metrics, clock, log });
  const scheduleOne = new ScheduleOne({ state, hooks, binding, failures, extenders, caches: runtime.informers, metrics, clock, log });
  const loop = new Loop({
    state,
    hooks,
    scheduleOne,
    binding,
    unconfirmed: new UnconfirmedPods(state, binder),
    tasks,
    statuses,
    hasExtenders: extenders !== undefined,
    caches: runtime.informers,
    trigger,
    clock,
  });
  handlers.listen();
  runtime.dump('scheduler-queue', () => dumpQueue(state.queue, config.unschedulableFlushMs, state.shown));
  runtime.dump('nominations', () =>
    [...state.nominator.nodes].map((node) => ({ node, pods: state.nominator.on(node).map(({ key, priority }) => ({ key, priority })) })),
  );
  const run = async (signal: AbortSignal): Promise<void> => {
    // A process that acquires the lease during a relist first waits until the relist ends. Rejects only when the signal aborts; then the loop ends at once.
    await runtime.informers.whenSettled(signal).catch(() => {});
    log.info('scheduler started', { nodes: state.cluster.nodeCount, pods: state.cluster.podCount, waiting: state.queue.sizes.active });
    hooks.start(signal);
    try {
      await loop.run(signal);
    } finally {
      extenders?.close();
      await hooks.idle();
      log.info('scheduler stopped', { binding: binding.inFlight });
    }
  };
  return { name: 'scheduler', run };
}
