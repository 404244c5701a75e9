import type { Random } from '../../base/random.ts';
import type { Fault } from './fault.ts';

/** What a fault is chosen by. */
export interface FaultTarget {
  verb: string;
  resource: string;
  subresource: string;
  name: string;
}

/** Whether a fault is about a request; says nothing about counts and chance. */
export function isAbout(fault: Pick<Fault, 'verb' | 'resource' | 'name'>, target: FaultTarget): boolean {
  const resource = target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;
  return (
    (fault.verb === '*' || fault.verb === target.verb) &&
    (fault.resource === '*' || fault.resource === resource) &&
    (fault.name === undefined || fault.name === target.name)
  );
}

/** Which requests go wrong, and how. The first fault that is about a request, not used up and lucky counts. */
export class FaultPlan {
  readonly #random: Random;
  #faults: { fault: Fault; left: number }[] = [];

  constructor(faults: readonly Fault[], random: Random) {
    this.#random = random;
    this.replace(faults);
  }

  /** New faults; counts start anew. */
  replace(faults: readonly Fault[]): void {
    this.#faults = faults.map((fault) => ({ fault, left: fault.count ?? Infinity }));
  }

  /** The fault of this request, which uses up one of its count. */
  match(target: FaultTarget): Fault | undefined {
    for (const entry of this.#faults) {
      const { fault } = entry;
      if (entry.left <= 0 || !isAbout(fault, target)) continue;
      if (fault.probability !== undefined && this.#random() >= fault.probability) continue;
      entry.left -= 1;
      return fault;
    }
    return undefined;
  }
}
