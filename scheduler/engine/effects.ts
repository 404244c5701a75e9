import type { DomainCounts } from '../cache/domain-counts.ts';
import { labelsKey } from '../cache/pod-groups.ts';
import { isAnyTaken } from '../plugins/node-ports.ts';
import type { CountedConstraint } from '../plugins/pod-topology-spread.ts';
import type { AffinityTerms } from '../pod/affinity-terms.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Asked } from './node-trial.ts';

/** What one more of a pod is for a pod that is to be placed. */
export interface Effect {
  /** By rule and view: how much they count more. Nothing of 0. */
  readonly counts: ReadonlyMap<CountedConstraint | DomainCounts, number>;
  /** It has a host port that is wanted. */
  readonly takesPort: boolean;
}

/** What other pods are for one that is to be placed, worked out once for pods that are alike. Good for one turn. */
export class Effects {
  readonly #asked: Asked;
  readonly #known = new Map<AffinityTerms, Map<string, Effect['counts']>>();

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  of(pod: PodInfo): Effect {
    return { counts: this.#countsOf(pod), takesPort: isAnyTaken(this.#asked.needs.ports, pod.ports) };
  }

  #countsOf(pod: PodInfo): Effect['counts'] {
    const { wide } = this.#asked;
    if (!wide.hasFilters) return none;
    let alike = this.#known.get(pod.terms);
    if (alike === undefined) this.#known.set(pod.terms, (alike = new Map<string, Effect['counts']>()));
    const key = `${pod.terminating} ${pod.namespace} ${labelsKey(pod.labels)}`;
    const known = alike.get(key);
    if (known !== undefined) return known;
    const counts = new Map<CountedConstraint | DomainCounts, number>();
    for (const constraint of wide.hard) if (wide.countsIn(constraint, pod)) counts.set(constraint, 1);
    for (const views of [wide.affinity, wide.anti, wide.existingAnti])
      for (const view of views) {
        const adds = wide.addsTo(view, pod);
        if (adds !== 0) counts.set(view, adds);
      }
    alike.set(key, counts);
    return counts;
  }
}

const none: Effect['counts'] = new Map();
