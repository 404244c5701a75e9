import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Client } from '../../kube/client/client.ts';
import { controllerOf } from '../../kube/controller/owner-refs.ts';
import type { SchedulerState } from '../core/state.ts';
import type { DeletionFacts, Reservation, Reservations } from './contract.ts';
import { decide } from './decide.ts';
import { KeptAnnotations } from './kept-annotations.ts';
import { decodeKept, entryFor, KEPT_ANNOTATION, restoredFrom } from './persist.ts';
import type { Pod, StatefulSet } from '../types.ts';

/** Room that outlives the process: written on StatefulSets when a pod begins to go, read again by whoever takes over. */
export class ReservationsOnSets {
  readonly #state: SchedulerState;
  readonly #reservations: Reservations;
  readonly #client: Pick<Client, 'patch'>;
  readonly #log: Log;
  #annotations: KeptAnnotations | undefined;

  constructor(state: SchedulerState, reservations: Reservations, client: Pick<Client, 'patch'>, log: Log) {
    this.#state = state;
    this.#reservations = reservations;
    this.#client = client;
    this.#log = log;
  }

  /** Takes over what a process before this one wrote down. Room that is kept already, or that is no more, is left as it is. */
  restore({ recheck, adopted }: { recheck(node: string): void; adopted(reservation: Reservation): void }, signal: AbortSignal): void {
    const { caches, cluster, config, now, shown } = this.#state;
    const at = now();
    this.#annotations = new KeptAnnotations(
      this.#client,
      (set, error) => this.#log.warn('failed to save reservations in an annotation', { set, error: describeError(error) }),
      signal,
    );
    let priorities: Priorities | undefined;
    let count = 0;
    for (const set of caches.statefulSets.list()) {
      const { annotations, namespace = '', name = '' } = set.metadata;
      const { entries } = decodeKept(annotations?.[KEPT_ANNOTATION]);
      if (annotations?.[KEPT_ANNOTATION] === undefined) continue;
      this.#annotations.known(set, entries);
      priorities ??= prioritiesOf(caches.pods.list());
      const { reservations: found, refused } = restoredFrom({
        set,
        isPlaced: (pod) => (caches.pods.get(`${namespace}/${pod}`)?.spec?.nodeName ?? '') !== '',
        node: (node) => cluster.node(node)?.node,
        priority: priorities.of(set),
        isOurs: (schedulerName) => config.profiles.has(schedulerName),
        longestMs: config.reservation.claimedTtlMs,
        now: shown(at),
      });
      for (const why of refused)
        this.#log.info('a reservation of an annotation is not adopted', { set: `${namespace}/${name}`, reason: why });
      for (const { expiresAt, ...room } of found) {
        // Written by the wall clock; here time goes by the scheduler's own.
        const reservation = { ...room, createdAt: at, expiresAt: at + expiresAt - shown(at) };
        if (count >= MAX_ADOPTED) continue;
        if (this.#reservations.adopt(reservation) === undefined) continue;
        count += 1;
        adopted(reservation);
        recheck(reservation.node);
      }
    }
  }

  /** A pod begins to go: its room is written down if it would be kept now. */
  terminating(facts: DeletionFacts, signal: AbortSignal): void {
    const { config, now, shown } = this.#state;
    const { set, pod } = facts;
    if (set === undefined || signal.aborted) return;
    const rules = { ...config.reservation, isOurs: (name: string) => config.profiles.has(name) };
    if (decide(facts, rules).keep) this.#annotations?.arm(set, entryFor(pod, config.reservation.ttlMs, shown(now())));
  }

  ended(setUid: string, podName: string): void {
    this.#annotations?.end(setUid, podName);
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#annotations?.settled();
  }
}

/** Rooms that are taken over from annotations in one start: far more than pods that are on their way out at one time. */
const MAX_ADOPTED = 5_000;

interface Priorities {
  of(set: Readonly<StatefulSet>): number | undefined;
}

/**
 * How important a pod of a set is, by pods that there are: what a class is worth, and who may use it, is decided where pods are made. A pod of the set itself says
 * it, or one of its namespace with the class that its template names.
 */
function prioritiesOf(pods: Iterable<Readonly<Pod>>): Priorities {
  const bySet = new Map<string, number>();
  const byClass = new Map<string, number>();
  for (const pod of pods) {
    const { priority, priorityClassName } = pod.spec ?? {};
    if (priority === undefined) continue;
    const owner = controllerOf(pod);
    if (owner !== undefined) bySet.set(owner.uid, priority);
    if (priorityClassName !== undefined) byClass.set(`${pod.metadata.namespace ?? ''}/${priorityClassName}`, priority);
  }
  return {
    of: ({ metadata, spec }) =>
      bySet.get(metadata.uid ?? '') ?? byClass.get(`${metadata.namespace ?? ''}/${spec?.template.spec?.priorityClassName ?? ''}`),
  };
}
