import type { EventType, Series } from './event.ts';

const TYPES: readonly EventType[] = ['Normal', 'Warning'];

/**
 * Events that wait to be sent: what went well and what did not, each in the order in which it came, and taken in turn. A storm of either (ten thousand
 * pods that fit nowhere) delays the other by one call.
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

  /** Takes the next out: the first that may go, of the type that did not go last. */
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

  /** Takes all out. */
  *drain(): Generator<Series, void, undefined> {
    for (const type of TYPES) {
      yield* this.#lanes[type];
      this.#lanes[type].clear();
    }
  }
}
