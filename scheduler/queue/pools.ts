import { IndexedHeap } from '../../base/ordered.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { PoolName } from './contract.ts';
import { byBackoff, byTurn, EventLog, type Entry, type LoggedEvent } from './entry.ts';
import type { Unschedulable } from './unschedulable.ts';

/**
 * The pools of the queue. Each pod is in exactly one, named by `Entry.place`. Upstream's names: activeQ, podBackoffQ, podErrorBackoffQ, unschedulablePods and
 * inFlightPods with their events.
 */
export class Pools {
  readonly #active = new IndexedHeap<string, Entry>(byTurn);
  readonly #backoff = new IndexedHeap<string, Entry>(byBackoff);
  readonly #errorBackoff = new IndexedHeap<string, Entry>(byBackoff);
  readonly #unschedulable: Unschedulable;
  readonly #prioritized: (info: PodInfo) => boolean;
  readonly #log = new EventLog();
  readonly #held = new Set<Entry>();
  #gated = 0;
  #inFlight = 0;
  /** Pods in flight that are not assumed yet: events are logged for them. */
  #listening = 0;

  /** @param prioritized - whether a pod is tried before others of its priority */
  constructor(unschedulable: Unschedulable, prioritized: (info: PodInfo) => boolean) {
    this.#unschedulable = unschedulable;
    this.#prioritized = prioritized;
  }

  get sizes(): Readonly<Record<PoolName, number>> {
    return {
      active: this.#active.size,
      backoff: this.#backoff.size + this.#errorBackoff.size,
      unschedulable: this.#unschedulable.size + this.#held.size,
      gated: this.#gated,
    };
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** The pod to try next: the first active one; without any, the first that backs off after a rejection. */
  get next(): Entry | undefined {
    return (this.#active.peek() ?? this.#backoff.peek())?.value;
  }

  /** Pods that back off after a rejection, and after an error. */
  get backoffs(): readonly IndexedHeap<string, Entry>[] {
    return [this.#backoff, this.#errorBackoff];
  }

  /** Pods whose victims are being deleted. */
  get held(): Iterable<Entry> {
    return this.#held;
  }

  /** Keeps an event for the pods in flight that it may help. */
  log(logged: LoggedEvent): void {
    if (this.#listening > 0) this.#log.add(logged);
  }

  /** Adds a pod that is in no pool, or sorts it again in the pool that it is in. */
  put(entry: Entry, place: Entry['place']): void {
    entry.place = place;
    entry.prioritized = this.#prioritized(entry.info);
    switch (place) {
      case 'active':
        this.#active.set(entry.uid, entry);
        break;
      case 'backoff':
        (entry.errors > 0 ? this.#errorBackoff : this.#backoff).set(entry.uid, entry);
        break;
      case 'unschedulable':
        this.#unschedulable.add(entry);
        break;
      case 'held':
        this.#held.add(entry);
        break;
      case 'gated':
        this.#gated++;
        break;
      case 'in-flight':
        this.#inFlight++;
        this.#listening++;
        entry.flight = this.#log.now;
        break;
    }
  }

  /** Removes a pod from its pool. */
  take(entry: Entry): void {
    switch (entry.place) {
      case 'active':
        this.#active.delete(entry.uid);
        break;
      case 'backoff':
        (entry.errors > 0 ? this.#errorBackoff : this.#backoff).delete(entry.uid);
        break;
      case 'unschedulable':
        this.#unschedulable.delete(entry);
        break;
      case 'held':
        this.#held.delete(entry);
        break;
      case 'gated':
        this.#gated--;
        break;
      case 'in-flight':
        this.#inFlight--;
        this.stopListening(entry);
        break;
    }
  }

  /** Events no longer matter to this pod in flight: it is assumed. */
  stopListening(entry: Entry): void {
    if (entry.flight === undefined) return;
    entry.flight = undefined;
    if (--this.#listening === 0) this.#log.forget();
  }

  /** Sorts a waiting pod again after its order changed. */
  sort(entry: Entry): void {
    if (entry.place === 'active' || entry.place === 'backoff') this.put(entry, entry.place);
  }
}
