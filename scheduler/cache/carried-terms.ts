import { Counter } from './counter.ts';
import type { AffinityTerm } from '../pod/affinity-terms.ts';
import type { PodInfo } from '../pod/pod-info.ts';

export type CarriedKind = 'requiredAnti' | 'required' | 'preferred' | 'preferredAnti';

/** A term that pods on nodes have, and how many of them on which. */
export interface CarriedTerm {
  readonly id: string;
  readonly kind: CarriedKind;
  readonly term: AffinityTerm;
  /** 1 for what is required. */
  readonly weight: number;
  readonly counter: Counter;
  pods: number;
}

/** What pods on nodes say of others. Most say nothing; those of one template say the same. */
export class CarriedTerms {
  readonly #terms = new Map<string, CarriedTerm>();
  /** Counts terms that came or went: who has a list of them looks again. */
  version = 1;

  all(): Iterable<CarriedTerm> {
    return this.#terms.values();
  }

  add(info: PodInfo, slot: number): void {
    for (const { id, kind, term, weight } of carriedBy(info)) {
      let carried = this.#terms.get(id);
      if (carried === undefined) {
        carried = { id, kind, term, weight, counter: new Counter(), pods: 0 };
        this.#terms.set(id, carried);
        this.version += 1;
      }
      carried.pods += 1;
      carried.counter.add(slot, 1);
    }
  }

  remove(info: PodInfo, slot: number): void {
    for (const { id } of carriedBy(info)) {
      const carried = this.#terms.get(id);
      if (carried === undefined) continue;
      carried.pods -= 1;
      carried.counter.add(slot, -1);
      if (carried.pods > 0) continue;
      this.#terms.delete(id);
      this.version += 1;
    }
  }

  /** Labels of a namespace are other than they were: terms may mean other pods now. */
  namespacesChanged(): void {
    this.version += 1;
  }
}

interface Carried {
  id: string;
  kind: CarriedKind;
  term: AffinityTerm;
  weight: number;
}

const nothing: readonly Carried[] = [];
const known = new WeakMap<PodInfo['terms'], readonly Carried[]>();

/** What a pod says, one by one: the same term twice is there twice. */
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
