import { Counter } from './counts.ts';
import { compactKey } from '../pod/selectors.ts';
import type { PodInfo } from '../pod/pod-info.ts';

/** Pods that no selector distinguishes: of one namespace, with the same labels, all terminating or none. */
export interface PodGroup {
  readonly key: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly terminating: boolean;
  /** Number of pods by slot of their node, without zeros. */
  readonly bySlot: Map<number, number>;
  /** Counters that count these pods, with the weight of each pod. */
  readonly counters: Map<Counter, number>;
}

/** How much a pod counts; 0: not at all. */
export type Weigh = (group: Pick<PodGroup, 'namespace' | 'labels' | 'terminating'>) => number;

interface Counted {
  readonly counter: Counter;
  readonly weigh: Weigh;
  readonly byNamespace: boolean;
}

/**
 * Assigned pods, grouped by the fields that selectors read, and counts of the pods that selectors match. Updated pod by pod: they are not counted again for
 * each scheduling attempt.
 */
export class PodGroups {
  readonly #groups = new Map<string, PodGroup>();
  readonly #counted = new Map<string, Counted>();
  /** Counters that are not complete yet, with the groups that are still to be counted. New groups are counted at once. */
  readonly #filling = new Map<Counter, { readonly counted: Counted; readonly rest: Iterator<PodGroup> }>();

  /** Number of groups and of counters. */
  get sizes(): { readonly groups: number; readonly counters: number } {
    return { groups: this.#groups.size, counters: this.#counted.size };
  }

  add(info: PodInfo, slot: number): void {
    const group = this.#groupOf(info);
    group.bySlot.set(slot, (group.bySlot.get(slot) ?? 0) + 1);
    for (const [counter, weight] of group.counters) counter.add(slot, weight);
  }

  remove(info: PodInfo, slot: number): void {
    const group = this.#groupOf(info);
    const left = (group.bySlot.get(slot) ?? 0) - 1;
    if (left > 0) group.bySlot.set(slot, left);
    else group.bySlot.delete(slot);
    for (const [counter, weight] of group.counters) counter.add(slot, -weight);
    if (group.bySlot.size === 0) this.#groups.delete(group.key);
  }

  /**
   * The counter with this id: callers that pass the same id must pass the same weights, and share the counter. Complete only after {@link fill}.
   * @param byNamespace - the weights depend on labels of namespaces as well: see {@link namespacesChanged}
   */
  counter(id: string, weigh: Weigh, byNamespace: boolean): Counter {
    const known = this.#counted.get(id);
    if (known !== undefined) return known.counter;
    const counter = new Counter();
    const counted = { counter, weigh, byNamespace };
    this.#counted.set(id, counted);
    this.#filling.set(counter, { counted, rest: this.#groups.values() });
    return counter;
  }

  /** Completes the counts. @param isOver - whether to stop for now. @returns whether they are complete */
  fill(counter: Counter, isOver: () => boolean = () => false): boolean {
    const filling = this.#filling.get(counter);
    if (filling === undefined) return true;
    const { counted, rest } = filling;
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      countGroup(counted, next.value);
      if (isOver()) return false;
    }
    this.#filling.delete(counter);
    return true;
  }

  /** Drops the counters that are no longer used. */
  keep(used: ReadonlySet<Counter>): void {
    for (const [id, { counter }] of this.#counted) {
      if (used.has(counter)) continue;
      this.#counted.delete(id);
      this.#filling.delete(counter);
      for (const group of this.#groups.values()) group.counters.delete(counter);
    }
  }

  /** The labels of a namespace changed, or a namespace was added. */
  namespacesChanged(): void {
    for (const counted of this.#counted.values()) {
      if (!counted.byNamespace) continue;
      counted.counter.clear();
      for (const group of this.#groups.values()) group.counters.delete(counted.counter);
      this.#filling.set(counted.counter, { counted, rest: this.#groups.values() });
    }
  }

  #groupOf({ namespace, labels, terminating }: PodInfo): PodGroup {
    const key = `${terminating ? '-' : '+'}${namespace}${labelsKey(labels)}`;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group: PodGroup = { key, namespace, labels, terminating, bySlot: new Map(), counters: new Map() };
    for (const { counter, weigh } of this.#counted.values()) {
      const weight = weigh(group);
      if (weight !== 0) group.counters.set(counter, weight);
    }
    this.#groups.set(key, group);
    return group;
  }
}

function countGroup({ counter, weigh }: Counted, group: PodGroup): void {
  if (group.counters.has(counter)) return;
  const weight = weigh(group);
  if (weight === 0) return;
  group.counters.set(counter, weight);
  for (const [slot, count] of group.bySlot) counter.add(slot, count * weight);
}

const keys = new WeakMap<Readonly<Record<string, string>>, string>();

/** The same text for the same labels. */
export function labelsKey(labels: Readonly<Record<string, string>>): string {
  const known = keys.get(labels);
  if (known !== undefined) return known;
  const key = compactKey(JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))));
  keys.set(labels, key);
  return key;
}
