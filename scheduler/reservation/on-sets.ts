import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Client } from '../../kube/client/client.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { SchedulerState } from '../core/state.ts';
import type { DeletionFacts, Reservation, Reservations } from './contract.ts';
import { decide } from './decide.ts';
import {
  decodeReservations,
  entryFor,
  RESERVATIONS_ANNOTATION,
  restoredFrom,
  encodeReservations,
  type SavedReservation,
} from './persist.ts';
import type { Pod, StatefulSet } from '../types.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { statefulSets } from '../../kube/api/object.ts';

/** Reservations that outlive the process: written to an annotation of the StatefulSet when a pod begins to terminate, read by the next leader. */
export class ReservationsOnSets {
  readonly #state: SchedulerState;
  readonly #reservations: Reservations;
  readonly #client: Pick<Client, 'patch'>;
  readonly #log: Log;
  #annotations: ReservationAnnotations | undefined;

  constructor(state: SchedulerState, reservations: Reservations, client: Pick<Client, 'patch'>, log: Log) {
    this.#state = state;
    this.#reservations = reservations;
    this.#client = client;
    this.#log = log;
  }

  /** Restores the reservations that an earlier process saved, except those that exist already or whose reason has ceased. */
  restore(
    { recheck, adopted }: { recheck: (node: string) => void; adopted: (reservation: Reservation) => void },
    signal: AbortSignal,
  ): void {
    const { caches, cluster, config, now, shown } = this.#state;
    const at = now();
    this.#annotations = new ReservationAnnotations(
      this.#client,
      (set, error) => this.#log.warn('failed to save reservations in an annotation', { set, error: describeError(error) }),
      signal,
    );
    let priorities: Priorities | undefined;
    let count = 0;
    for (const set of caches.statefulSets.list()) {
      const { annotations, namespace = '', name = '' } = set.metadata;
      const { entries } = decodeReservations(annotations?.[RESERVATIONS_ANNOTATION]);
      if (annotations?.[RESERVATIONS_ANNOTATION] === undefined) continue;
      this.#annotations.known(set, entries);
      priorities ??= prioritiesOf(caches.pods.list());
      const { reservations: found, refused } = restoredFrom({
        set,
        isPlaced: (pod) => (caches.pods.get(`${namespace}/${pod}`)?.spec?.nodeName ?? '') !== '',
        node: (node) => cluster.node(node)?.node,
        priority: priorities.of(set),
        isOwnScheduler: (schedulerName) => config.profiles.has(schedulerName),
        longestMs: config.reservation.claimedTtlMs,
        now: shown(at),
      });
      for (const why of refused) this.#log.info('reservation from annotation ignored', { set: `${namespace}/${name}`, reason: why });
      for (const { expiresAt, ...room } of found) {
        // Saved times are of the wall clock; the scheduler has its own clock.
        const reservation = { ...room, createdAt: at, expiresAt: at + expiresAt - shown(at) };
        if (count >= MAX_ADOPTED) continue;
        if (this.#reservations.adopt(reservation) === undefined) continue;
        count += 1;
        adopted(reservation);
        recheck(reservation.node);
      }
    }
  }

  /** A pod is terminating: saves a reservation if one would be made now. */
  terminating(facts: DeletionFacts, signal: AbortSignal): void {
    const { config, now, shown } = this.#state;
    const { set, pod } = facts;
    if (set === undefined || signal.aborted) return;
    const rules = { ...config.reservation, isOwnScheduler: (name: string) => config.profiles.has(name) };
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

/** Maximum number of reservations restored at one start: far more than pods that terminate at one time. */
const MAX_ADOPTED = 5_000;

interface Priorities {
  of(set: Readonly<StatefulSet>): number | undefined;
}

/**
 * Priority of a set's pods, read from existing pods, because admission decides on the value of a class and who may use it: from a pod of the set, or from a
 * pod of its namespace with the class that its template names.
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

interface Noted {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly entries: Map<string, SavedReservation>;
  /** A write is in flight; changes in the meantime are written after it, all at once. */
  writing: boolean;
  dirty: boolean;
}

/**
 * Saves present and expected reservations in an annotation of their StatefulSet. Each write contains all known entries, so that no write depends on an earlier
 * one. Best effort: a failed write is reported, and not repeated before the next change of the set's entries.
 */
export class ReservationAnnotations {
  readonly #client: Pick<Client, 'patch'>;
  readonly #signal: AbortSignal;
  readonly #failed: (set: string, error: unknown) => void;
  readonly #noted = new Map<string, Noted>();
  readonly #writes = new Set<Promise<void>>();

  constructor(client: Pick<Client, 'patch'>, failed: (set: string, error: unknown) => void, signal: AbortSignal) {
    this.#client = client;
    this.#failed = failed;
    this.#signal = signal;
  }

  /** Entries that were read from a set at the start: they are saved already. */
  known(set: Readonly<StatefulSet>, entries: readonly SavedReservation[]): void {
    const noted = this.#of(set);
    for (const entry of entries) noted.entries.set(entry.name, entry);
  }

  /** The pod is terminating, and a reservation is likely. A repeated call writes nothing. */
  arm(set: Readonly<StatefulSet>, entry: SavedReservation): void {
    const noted = this.#of(set);
    if (noted.entries.get(entry.name)?.uid === entry.uid) return;
    // The newest last: beyond the limits, the oldest ones are left out.
    noted.entries.delete(entry.name);
    noted.entries.set(entry.name, entry);
    this.#write(noted);
  }

  /** There is no reservation for this name any more. */
  end(setUid: string, podName: string): void {
    const noted = this.#noted.get(setUid);
    if (noted?.entries.delete(podName) === true) this.#write(noted);
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes);
  }

  #of({ metadata: { namespace = '', name = '', uid = '' } }: Readonly<StatefulSet>): Noted {
    const known = this.#noted.get(uid);
    if (known !== undefined) return known;
    const noted: Noted = { namespace, name, uid, entries: new Map(), writing: false, dirty: false };
    this.#noted.set(uid, noted);
    return noted;
  }

  #write(noted: Noted): void {
    noted.dirty = true;
    if (noted.writing) return;
    const write = this.#drain(noted).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  async #drain(noted: Noted): Promise<void> {
    const { namespace, name, uid, entries } = noted;
    noted.writing = true;
    while (noted.dirty && !this.#signal.aborted) {
      noted.dirty = false;
      // The UID protects another set of the same name.
      const patch = { metadata: { uid, annotations: { [RESERVATIONS_ANNOTATION]: encodeReservations([...entries.values()]) } } };
      try {
        await this.#client.patch(statefulSets, { namespace, name }, patch, { type: 'merge', signal: this.#signal });
      } catch (error) {
        // A conflict may or may not be about the UID: the next change of the entries writes all again.
        if (isNotFound(error)) this.#noted.delete(uid);
        else if (!this.#signal.aborted) this.#failed(`${namespace}/${name}`, error);
      }
    }
    noted.writing = false;
    if (entries.size === 0 && !noted.dirty) this.#noted.delete(uid);
  }
}
