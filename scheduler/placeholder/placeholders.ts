import { backoff } from '../../base/waiting.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { pods } from '../../kube/api/object.ts';
import { type Key, parseKey } from '../../kube/cache/contract.ts';
import type { Client } from '../../kube/client/client.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound, isTooManyRequests } from '../../kube/client/errors.ts';
import type { ClusterView } from '../core/state.ts';
import { type PodInfo, podInfoOf } from '../pod/pod-info.ts';
import type { Reservation, Reservations } from '../reservation/contract.ts';
import {
  PLACEHOLDER_LABEL,
  placeholderKey,
  placeholderOf,
  placeholderOldUid,
  type PlaceholderPlan,
  type PlaceholderPod,
  planPlaceholders,
} from './plan.ts';
import type { Pod } from '../types.ts';
import type { SeenPlaceholders } from './hooks.ts';
import type { Meters } from '../../kube/process/contract.ts';

export interface PlaceholdersOptions {
  seen: SeenPlaceholders;
  reservations: Pick<Reservations, 'list' | 'inFlight' | 'size'>;
  cluster: Pick<ClusterView, 'placed'>;
  client: Pick<Client, 'create' | 'delete' | 'get' | 'list'>;
  clock: Clock;
  random: Random;
  log: Log;
  meters: PlaceholderMeters;
  isOwnScheduler: (schedulerName: string) => boolean;
  image: string;
  /** Longest lifetime of a reservation. */
  longestMs: Millis;
  /** Called when no placeholder pod could be created: other schedulers do not see this reservation. */
  onUnseen(reservation: Reservation, error: unknown): void;
}

interface Entry extends PlaceholderPod {
  uid: string;
  info: PodInfo | undefined;
  /** A request about it is in flight. Never rejects: see `error`. */
  flight: Promise<void> | undefined;
  /** Why its last deletion failed. */
  error: unknown;
  failures: number;
  /** Time of the next attempt, on the monotonic clock; a pod that is about to be bound does not wait for it. */
  notBefore: Millis;
}

const CALL_MS: Millis = 10_000;
const REMEMBERED = 1_000;
const RETRY = { base: 1_000, cap: 30_000 };

/**
 * Creates and deletes the placeholder pods that show reservations to other schedulers, as planned, while this process leads. No pod is bound to a node with a
 * placeholder pod that has no reservation.
 */
export class Placeholders {
  readonly #options: PlaceholdersOptions;
  readonly #entries = new Map<Key, Entry>();
  readonly #had = new Set<string>();
  readonly #due = new Set<string>();
  #signal: AbortSignal | undefined;
  /** A failed creation was reported; reported again only after one has succeeded. */
  #isReported = false;

  constructor(options: PlaceholdersOptions) {
    this.#options = options;
  }

  /** From now on this process creates and deletes placeholder pods, beginning with those that an earlier process left. */
  begin(signal: AbortSignal): void {
    this.#signal = signal;
    const { seen } = this.#options;
    seen.watch((info, oldUid) => this.#seen(info, oldUid));
    void this.#findOthers(signal);
    this.sync();
  }

  /** A reservation or a placeholder pod changed. */
  readonly sync = (): void => {
    if (this.#isIdle()) return;
    this.#prune();
    const { make, remove } = this.#plan();
    for (const { placeholder, why } of remove) {
      const entry = this.#entries.get(placeholder.key);
      if (entry !== undefined && this.#isFree(entry)) void this.#remove(entry, why);
    }
    for (const reservation of make) {
      const entry = this.#entries.get(placeholderKey(reservation));
      if (entry === undefined || this.#isFree(entry)) this.#make(reservation);
    }
  };

  /**
   * Resolves when no placeholder pod is left on the node that would keep the kubelet from admitting the pod to be bound. Until {@link settled}, none is
   * created for its reservation.
   * @param reservation - the reservation that was released to the pod
   * @throws why a placeholder pod could not be deleted; the signal's reason
   */
  async clear(node: string, reservation: Reservation | undefined, signal: AbortSignal): Promise<void> {
    if (reservation !== undefined) this.#due.add(reservation.oldUid);
    for (let round = 0; this.#entries.size > 0; round++) {
      const blocking = this.#plan().remove.flatMap(({ placeholder, why }) => {
        const entry = placeholder.node === node ? this.#entries.get(placeholder.key) : undefined;
        return entry === undefined ? [] : [{ entry, why }];
      });
      if (blocking.length === 0) return;
      // A deletion that just failed is not repeated here: binding fails, and the pod is requeued.
      const failed = blocking.find(({ entry }) => round > 0 && entry.flight === undefined && entry.error !== undefined);
      if (failed !== undefined) throw failed.entry.error;
      await Promise.all(blocking.map(({ entry, why }) => entry.flight ?? this.#remove(entry, why)));
      signal.throwIfAborted();
    }
  }

  /** The binding of the pod has succeeded or failed. */
  settled(reservation: Reservation): void {
    if (this.#due.delete(reservation.oldUid)) this.sync();
  }

  /** Resolves when no request is in flight. */
  async idle(): Promise<void> {
    for (const { flight } of this.#entries.values()) await flight;
  }

  #isIdle(): boolean {
    if (this.#signal === undefined || this.#signal.aborted) return true;
    if (this.#entries.size > 0 || this.#options.reservations.size > 0) return false;
    if (this.#due.size === 0) this.#had.clear();
    return true;
  }

  #prune(): void {
    if (this.#had.size < REMEMBERED) return;
    const { reservations } = this.#options;
    const rooms = new Set([...reservations.list(), ...reservations.inFlight()].map(({ oldUid }) => oldUid));
    for (const uid of this.#had) if (!rooms.has(uid)) this.#had.delete(uid);
  }

  #isFree({ flight, notBefore }: Entry): boolean {
    return flight === undefined && this.#options.clock.monotonic() >= notBefore;
  }

  #plan(): PlaceholderPlan {
    const { reservations, cluster } = this.#options;
    // A successor that is bound to another node frees the reserved capacity at once.
    const given = reservations.inFlight().filter(({ claimant, node }) => {
      const placed = claimant && cluster.placed(claimant.uid);
      return placed?.at === 'assumed' && placed.state.name === node;
    });
    return planPlaceholders({
      kept: reservations.list(),
      given,
      due: this.#due,
      placeholders: [...this.#entries.values()],
      had: this.#had,
    });
  }

  #seen(info: PodInfo, oldUid: string): void {
    const { key, nodeName: node, uid } = info;
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#entries.set(key, { key, node, oldUid, uid, info, ...atRest });
    else if (entry.uid === '' || entry.uid === uid) Object.assign(entry, { uid, info });
    // A pod of another owner, under the name of a deleted placeholder pod.
    else if (entry.flight === undefined) this.#entries.set(key, { key, node, oldUid, uid, info, ...atRest });
    this.#had.add(oldUid);
  }

  #forget(entry: Entry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }

  /** Resolves when the request has succeeded or failed. */
  #call(entry: Entry, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const signal = this.#signal ?? AbortSignal.abort();
    entry.error = undefined;
    const flight = act(signal)
      .then(
        () => void (entry.failures = 0),
        () => this.#failed(entry, signal),
      )
      .finally(() => {
        entry.flight = undefined;
        this.sync();
      });
    entry.flight = flight;
    return flight;
  }

  #failed(entry: Entry, signal: AbortSignal): void {
    const { clock, random } = this.#options;
    if (signal.aborted) return;
    entry.failures += 1;
    const wait = backoff(entry.failures, RETRY, random);
    const at = clock.monotonic() + wait;
    entry.notBefore = at;
    const then = (): void => {
      // A timer may be a moment early.
      if (entry.notBefore === at) entry.notBefore = 0;
      this.sync();
    };
    void clock.sleep(wait, signal).then(then, () => {});
  }

  #make(reservation: Reservation): void {
    const { client, seen, meters, image, longestMs, log } = this.#options;
    const key = placeholderKey(reservation);
    const { oldUid, node } = reservation;
    const entry: Entry = this.#entries.get(key) ?? { key, node, oldUid, uid: '', info: undefined, ...atRest };
    this.#entries.set(key, entry);
    seen.expect(key);
    void this.#call(entry, async (signal) => {
      let uid: string | undefined;
      try {
        const made = await client.create<Pod>(pods, placeholderOf(reservation, image, longestMs), { signal, timeoutMs: CALL_MS });
        ({ uid } = made.metadata);
        this.#had.add(oldUid);
        entry.uid = uid ?? '';
        entry.info ??= podInfoOf(made);
        meters.made('ok');
        this.#isReported = false;
        log.debug('placeholder pod created', { pod: key, node });
      } catch (error) {
        signal.throwIfAborted();
        if (isAlreadyExists(error)) return await this.#identify(entry, signal);
        meters.made('error');
        this.#reportFailure(reservation, error);
        if (!isFinal(error)) throw error;
        // A quota, an admission policy, a terminating namespace: a retry could get in the way of the successor.
        this.#had.add(oldUid);
        this.#forget(entry);
      } finally {
        seen.made(key, uid);
      }
    });
  }

  #remove(entry: Entry, why: string): Promise<void> {
    const { seen, meters, log } = this.#options;
    const { key, oldUid } = entry;
    return this.#call(entry, async (signal) => {
      try {
        await this.#delete(entry, signal);
      } catch (error) {
        entry.error = error;
        signal.throwIfAborted();
        meters.removed('error');
        if (entry.failures === 0)
          log.warn('failed to remove a placeholder pod, retrying', { pod: key, reason: why, error: describeError(error) });
        seen.count(entry.uid);
        throw error;
      }
      meters.removed('ok');
      log.debug('placeholder pod removed', { pod: key, reason: why });
      this.#forget(entry);
      // It was deleted for a successor. If that is not bound after all, another one may be created.
      if (this.#due.has(oldUid)) this.#had.delete(oldUid);
    });
  }

  async #delete(entry: Entry, signal: AbortSignal): Promise<void> {
    if (entry.uid === '') await this.#identify(entry, signal);
    const { key, uid } = entry;
    if (uid === '') return;
    const options = { body: { preconditions: { uid }, gracePeriodSeconds: 0 }, signal, timeoutMs: CALL_MS };
    try {
      await this.#options.client.delete(pods, refOf(key), options);
    } catch (error) {
      // Another pod may have its name by now, which its UID shows: the server answers 409 for that and for other conflicts.
      if (isNotFound(error) || (isConflict(error) && !(await this.#isThere(entry, signal)))) return;
      throw error;
    }
  }

  /** Reads the pod of this name. One that is not ours is forgotten. */
  async #identify(entry: Entry, signal: AbortSignal): Promise<void> {
    const { client, isOwnScheduler } = this.#options;
    try {
      const pod = await client.get<Pod>(pods, refOf(entry.key), { signal, timeoutMs: CALL_MS });
      const info = podInfoOf(pod);
      this.#had.add(entry.oldUid);
      if (placeholderOldUid(info, isOwnScheduler) === entry.oldUid) Object.assign(entry, { uid: info.uid, info });
      else this.#forget(entry);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#forget(entry);
    }
  }

  async #isThere({ key, uid }: Entry, signal: AbortSignal): Promise<boolean> {
    try {
      const { metadata } = await this.#options.client.get(pods, refOf(key), { signal, timeoutMs: CALL_MS });
      return metadata.uid === uid;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Finished pods are in no cache, so they are listed once. */
  async #findOthers(signal: AbortSignal): Promise<void> {
    const { client, clock, random, log, isOwnScheduler } = this.#options;
    for (let failures = 1; ; failures++) {
      try {
        const { items } = await client.list<Pod>(pods, { labelSelector: PLACEHOLDER_LABEL }, { signal });
        for (const info of items.map((pod) => podInfoOf(pod))) {
          const oldUid = placeholderOldUid(info, isOwnScheduler);
          if (oldUid !== undefined) this.#seen(info, oldUid);
        }
        this.sync();
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (failures === 1) log.warn('failed to list placeholder pods, retrying', { error: describeError(error) });
        await clock.sleep(backoff(failures, RETRY, random), signal).catch(() => {});
      }
    }
  }

  #reportFailure(reservation: Reservation, error: unknown): void {
    const { log } = this.#options;
    this.#options.onUnseen(reservation, error);
    if (this.#isReported) return;
    this.#isReported = true;
    log.warn('failed to create a placeholder pod, other schedulers do not see the reservation', {
      pod: reservation.heldPod.key,
      node: reservation.node,
      error: describeError(error),
    });
  }
}

const atRest = { flight: undefined, error: undefined, failures: 0, notBefore: 0 };

const refOf = (key: Key): { namespace: string; name: string } => {
  const { namespace = '', name } = parseKey(key);
  return { namespace, name };
};

/** The server refused the request, and would refuse it again. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.code >= 400 && error.code < 500 && !isTooManyRequests(error);

export type Answer = 'ok' | 'error';

export interface PlaceholderMeters {
  made(result: Answer): void;
  removed(result: Answer): void;
}

export function placeholderMeters(meters: Meters): PlaceholderMeters {
  const writes = meters.counter('reservation_mirror_writes_total', 'Calls that create and delete placeholder pods, by verb and result', [
    'verb',
    'result',
  ]);
  return {
    made: (result) => writes({ verb: 'create', result }),
    removed: (result) => writes({ verb: 'delete', result }),
  };
}
