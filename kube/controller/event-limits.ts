import { cutMessage, type EventType, type EventOccurrence, newSeries, type Series } from './event.ts';
import type { Millis } from '../../base/clock.ts';

export interface AggregationLimits {
  /** From this many different messages on, similar occurrences are combined into one event. @default 10 */
  similar: number;
  /** Similar occurrences further apart than this are not combined, in ms. @default 600_000 */
  similarMs: Millis;
  /** Events of one type about one object that are sent at once. @default 25 */
  burst: number;
  /** Time after which one more is sent, in ms. @default 300_000 */
  refillMs: Millis;
  /** Objects, kinds of occurrences and events kept in memory, each; the least recently used are dropped. @default 4096 */
  remembered: number;
}

/** @see client-go tools/record, EventCorrelator */
const aggregationDefaults: AggregationLimits = { similar: 10, similarMs: 600_000, burst: 25, refillMs: 300_000, remembered: 4096 };

/** When something happened: wall clock for people, monotonic for spans, and a number below 1,000,000 for names. */
export interface Moment {
  now: Millis;
  monotonic: Millis;
  nanos: number;
}

/**
 * Turns occurrences into few events, as client-go does, so that a loop that fails all day does not fill etcd: a repeated occurrence raises the count of its
 * event; from the tenth message of similar occurrences (same object, type and reason) within ten minutes on, one event represents all; and 25 events of each
 * type about one object are sent, then one in five minutes: Normal events do not use the budget of warnings, as in client-go of 1.36. Pure but for its
 * memory, which is bounded.
 */
export class EventAggregation {
  readonly #limits: AggregationLimits;
  readonly #series: Recent<Series>;
  readonly #similar: Recent<{ messages: Set<string>; last: Millis }>;
  readonly #budgets: Recent<{ left: number; at: Millis }>;

  constructor(limits: Partial<AggregationLimits> = {}) {
    this.#limits = { ...aggregationDefaults, ...limits };
    this.#series = new Recent(this.#limits.remembered);
    this.#similar = new Recent(this.#limits.remembered);
    this.#budgets = new Recent(this.#limits.remembered);
  }

  /**
   * Counts an occurrence.
   * @returns its event; `send` is whether to send it now. If not, the next send includes the count
   */
  add(occurrence: EventOccurrence, moment: Moment): { series: Series; send: boolean } {
    const message = cutMessage(occurrence.message);
    const combined = this.#isOneOfMany(occurrence, message, moment.monotonic);
    const key = combined ? similarKey(occurrence) : eventKey(occurrence, message);
    const series = this.#series.get(key) ?? newSeries(occurrence, combined, moment.now, moment.nanos);
    this.#series.set(key, series);
    series.count += 1;
    series.lastMs = moment.now;
    series.message = combined ? cutMessage(`(combined from similar events): ${message}`) : message;
    return { series, send: this.#isInBudget(occurrence, moment.monotonic) };
  }

  #isOneOfMany(occurrence: EventOccurrence, message: string, now: Millis): boolean {
    const key = similarKey(occurrence);
    const { similar, similarMs } = this.#limits;
    const known = this.#similar.get(key);
    const messages = known === undefined || now - known.last > similarMs ? new Set<string>() : known.messages;
    this.#similar.set(key, { messages, last: now });
    messages.add(message);
    if (messages.size < similar) return false;
    // Drop the oldest message: the set need not grow beyond `similar`.
    for (const oldest of messages) {
      messages.delete(oldest);
      break;
    }
    return true;
  }

  #isInBudget(occurrence: EventOccurrence, now: Millis): boolean {
    const { burst, refillMs } = this.#limits;
    const key = joined(objectKey(occurrence), occurrence.type);
    const { left, at } = this.#budgets.get(key) ?? { left: burst, at: now };
    const full = Math.min(burst, left + (now - at) / refillMs);
    const isInBudget = full >= 1;
    this.#budgets.set(key, { left: isInBudget ? full - 1 : full, at: now });
    return isInBudget;
  }
}

/** A map that keeps the values set last. */
class Recent<V> {
  readonly #most: number;
  readonly #values = new Map<string, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#most) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      return;
    }
  }
}

// A separator that no name contains, so that different parts never give the same key.
const joined = (...parts: string[]): string => parts.join('\u0000');

function objectKey({ component, regarding: { kind, namespace, name, uid, apiVersion } }: EventOccurrence): string {
  return joined(component, kind, namespace, name, uid, apiVersion);
}

function similarKey(occurrence: EventOccurrence): string {
  return joined(objectKey(occurrence), occurrence.type, occurrence.reason);
}

function eventKey(occurrence: EventOccurrence, message: string): string {
  return joined(similarKey(occurrence), occurrence.regarding.fieldPath, message);
}

const TYPES: readonly EventType[] = ['Normal', 'Warning'];

/**
 * Events that wait to be sent: a FIFO lane for Normal and one for Warning, taken in turn. A storm in one lane (ten thousand unschedulable pods) delays the
 * other by one call.
 */
export class EventLanes {
  readonly #capacity: number;
  readonly #lanes: Readonly<Record<EventType, Set<Series>>> = { Normal: new Set(), Warning: new Set() };
  #last: EventType = 'Warning';

  /** @param capacity - of each lane */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#lanes.Normal.size + this.#lanes.Warning.size;
  }

  has(series: Series): boolean {
    return this.#lanes[series.type].has(series);
  }

  isFullFor({ type }: Series): boolean {
    return this.#lanes[type].size >= this.#capacity;
  }

  add(series: Series): void {
    this.#lanes[series.type].add(series);
  }

  /** Removes and returns the first event that may be sent, from the lane that was not used last if it has one. */
  take(mayGo: (series: Series) => boolean): Series | undefined {
    for (const type of this.#last === 'Normal' ? (['Warning', 'Normal'] as const) : TYPES) {
      for (const series of this.#lanes[type]) {
        if (!mayGo(series)) continue;
        this.#lanes[type].delete(series);
        this.#last = type;
        return series;
      }
    }
    return undefined;
  }

  /** Removes and yields all events. */
  *drain(): Generator<Series, void, undefined> {
    for (const type of TYPES) {
      yield* this.#lanes[type];
      this.#lanes[type].clear();
    }
  }
}
