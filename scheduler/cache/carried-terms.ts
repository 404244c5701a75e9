import { Counter } from './counts.ts';
import type { AffinityTerm } from '../pod/selectors.ts';
import type { PodInfo } from '../pod/pod-info.ts';

export type CarriedKind = 'requiredAnti' | 'required' | 'preferred' | 'preferredAnti';

/** A term of assigned pods, and how many pods on each node have it. */
export interface CarriedTerm {
  readonly id: string;
  readonly kind: CarriedKind;
  readonly term: AffinityTerm;
  /** 1 for a required term. */
  readonly weight: number;
  /** Number in the order of creation. */
  readonly serial: number;
  /** Number of pods with the term by slot of their node, without zeros. */
  readonly bySlot: Map<number, number>;
  /** Sums that include the term, with the weight of each pod. */
  readonly sums: Map<CarriedSum, number>;
  pods: number;
}

/** Weighted number of pods with any of its terms, by slot of their node: terms of one topology key share one count. */
export class CarriedSum {
  readonly counter = new Counter();
  /** Without terms that no pod has any more. */
  readonly terms = new Set<CarriedTerm>();

  add(term: CarriedTerm, weight: number): void {
    this.terms.add(term);
    term.sums.set(this, weight);
    for (const [slot, pods] of term.bySlot) this.counter.add(slot, pods * weight);
  }

  close(): void {
    for (const term of this.terms) term.sums.delete(this);
    this.terms.clear();
  }
}

/** Affinity and anti-affinity terms of assigned pods, by which other pods are filtered and scored. Most pods have none; pods of one template share theirs. */
export class CarriedTerms {
  readonly #terms = new Map<string, CarriedTerm>();
  /** By serial; includes some dropped terms. */
  #order: CarriedTerm[] = [];
  /** Number of required anti-affinity terms by topology key. */
  readonly #antiKeys = new Map<string, number>();
  /** The serial of the newest term. */
  last = 0;
  /** Number of terms dropped so far. */
  removals = 0;

  get size(): number {
    return this.#terms.size;
  }

  /** Whether assigned pods have required anti-affinity by this topology key. */
  hasAntiKey(topologyKey: string): boolean {
    return this.#antiKeys.has(topologyKey);
  }

  /** Present terms that were added after the one with this serial. */
  *since(serial: number): Iterable<CarriedTerm> {
    for (let at = this.#firstAfter(serial); at < this.#order.length; at++) {
      const carried = this.#order[at];
      if (carried !== undefined && carried.pods > 0) yield carried;
    }
  }

  add(info: PodInfo, slot: number): void {
    for (const { id, kind, term, weight } of carriedBy(info)) {
      const carried = this.#terms.get(id) ?? this.#new({ id, kind, term, weight });
      carried.pods += 1;
      carried.bySlot.set(slot, (carried.bySlot.get(slot) ?? 0) + 1);
      for (const [{ counter }, each] of carried.sums) counter.add(slot, each);
    }
  }

  remove(info: PodInfo, slot: number): void {
    for (const { id } of carriedBy(info)) {
      const carried = this.#terms.get(id);
      if (carried === undefined) continue;
      carried.pods -= 1;
      const left = (carried.bySlot.get(slot) ?? 0) - 1;
      if (left > 0) carried.bySlot.set(slot, left);
      else carried.bySlot.delete(slot);
      for (const [{ counter }, each] of carried.sums) counter.add(slot, -each);
      if (carried.pods === 0) this.#drop(carried);
    }
  }

  #new(carried: Carried): CarriedTerm {
    this.last += 1;
    const made = { ...carried, serial: this.last, bySlot: new Map<number, number>(), sums: new Map<CarriedSum, number>(), pods: 0 };
    this.#terms.set(carried.id, made);
    this.#order.push(made);
    this.#countAntiKey(carried, 1);
    return made;
  }

  #drop(carried: CarriedTerm): void {
    this.#terms.delete(carried.id);
    this.#countAntiKey(carried, -1);
    for (const sum of carried.sums.keys()) sum.terms.delete(carried);
    carried.sums.clear();
    this.removals += 1;
    if (this.#order.length > 2 * this.#terms.size + 64) this.#order = this.#order.filter(({ pods }) => pods > 0);
  }

  #countAntiKey({ kind, term: { topologyKey } }: Carried, change: 1 | -1): void {
    if (kind !== 'requiredAnti') return;
    const terms = (this.#antiKeys.get(topologyKey) ?? 0) + change;
    if (terms > 0) this.#antiKeys.set(topologyKey, terms);
    else this.#antiKeys.delete(topologyKey);
  }

  #firstAfter(serial: number): number {
    let [low, high] = [0, this.#order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#order[middle]?.serial ?? 0) <= serial) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

type Carried = Pick<CarriedTerm, 'id' | 'kind' | 'term' | 'weight'>;
const nothing: readonly Carried[] = [];
const known = new WeakMap<PodInfo['terms'], readonly Carried[]>();

/** The terms of a pod; a term that the pod has twice is there twice. */
export function carriedBy({ terms }: PodInfo): readonly Carried[] {
  const { required, requiredAnti, preferred, preferredAnti } = terms;
  if (required.length + requiredAnti.length + preferred.length + preferredAnti.length === 0) return nothing;
  const seen = known.get(terms);
  if (seen !== undefined) return seen;
  const one = (kind: CarriedKind, term: AffinityTerm, weight: number): Carried => ({
    id: `${kind} ${weight} ${term.id}`,
    kind,
    term,
    weight,
  });
  const carried = [
    ...requiredAnti.map((term) => one('requiredAnti', term, 1)),
    ...required.map((term) => one('required', term, 1)),
    ...preferred.map(({ term, weight }) => one('preferred', term, weight)),
    ...preferredAnti.map(({ term, weight }) => one('preferredAnti', term, weight)),
  ];
  known.set(terms, carried);
  return carried;
}
