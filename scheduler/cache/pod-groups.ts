import { Counter } from './counter.ts';
import { compactKey } from '../pod/compact-key.ts';
import type { PodInfo } from '../pod/pod-info.ts';

/** Pods that no selector tells apart: of one namespace, with the same labels, all on their way out or none. */
export interface PodGroup {
  readonly key: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly terminating: boolean;
  /** Pods by slot of their node; nothing of 0. */
  readonly bySlot: Map<number, number>;
  /** Who counts these pods. */
  readonly counters: Set<Counter>;
}

export type GroupMatch = (group: Pick<PodGroup, 'namespace' | 'labels' | 'terminating'>) => boolean;

interface Counted {
  readonly counter: Counter;
  readonly matches: GroupMatch;
  readonly byNamespace: boolean;
}

/**
 * The pods on nodes, by what selectors see of them, and counts of those that some selector means, kept up to date pod by pod: nobody counts them anew for
 * each pod that is placed.
 */
export class PodGroups {
  readonly #groups = new Map<string, PodGroup>();
  readonly #counted = new Map<string, Counted>();

  add(info: PodInfo, slot: number): void {
    const group = this.#groupOf(info);
    group.bySlot.set(slot, (group.bySlot.get(slot) ?? 0) + 1);
    for (const counter of group.counters) counter.add(slot, 1);
  }

  remove(info: PodInfo, slot: number): void {
    const group = this.#groupOf(info);
    const left = (group.bySlot.get(slot) ?? 0) - 1;
    if (left > 0) group.bySlot.set(slot, left);
    else group.bySlot.delete(slot);
    for (const counter of group.counters) counter.add(slot, -1);
    if (group.bySlot.size === 0) this.#groups.delete(group.key);
  }

  /**
   * Counts of the pods that `matches` means; whoever gives the same id means the same pods, and gets the same counts.
   * @param byNamespace - the answer depends on labels of namespaces as well: see {@link namespacesChanged}
   */
  counter(id: string, matches: GroupMatch, byNamespace: boolean): Counter {
    const known = this.#counted.get(id);
    if (known !== undefined) return known.counter;
    const counter = new Counter();
    const counted = { counter, matches, byNamespace };
    this.#counted.set(id, counted);
    this.#fill(counted);
    return counter;
  }

  /** Lets go of counts that nobody looks at any more. */
  keep(used: ReadonlySet<Counter>): void {
    for (const [id, { counter }] of this.#counted) {
      if (used.has(counter)) continue;
      this.#counted.delete(id);
      for (const group of this.#groups.values()) group.counters.delete(counter);
    }
  }

  /** Labels of a namespace are other than they were. */
  namespacesChanged(): void {
    for (const counted of this.#counted.values()) {
      if (!counted.byNamespace) continue;
      counted.counter.clear();
      for (const group of this.#groups.values()) group.counters.delete(counted.counter);
      this.#fill(counted);
    }
  }

  #fill({ counter, matches }: Counted): void {
    for (const group of this.#groups.values()) {
      if (!matches(group)) continue;
      group.counters.add(counter);
      for (const [slot, count] of group.bySlot) counter.add(slot, count);
    }
  }

  #groupOf({ namespace, labels, terminating }: PodInfo): PodGroup {
    const key = `${terminating ? '-' : '+'}${namespace}${labelsKey(labels)}`;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group: PodGroup = { key, namespace, labels, terminating, bySlot: new Map(), counters: new Set() };
    for (const { counter, matches } of this.#counted.values()) if (matches(group)) group.counters.add(counter);
    this.#groups.set(key, group);
    return group;
  }
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
