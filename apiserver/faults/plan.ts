import type { Random } from '../../base/random.ts';
import { isOfEvents } from './fault.ts';
import type { Fault } from './fault.ts';

/** What a fault is chosen by. */
export interface FaultTarget {
  verb: string;
  resource: string;
  subresource: string;
  /** Of the object, where one is named. */
  name: string;
  /** A read that may be answered from an older state: `resourceVersion=0`, or not older than some version. @default false */
  mayBeStale?: boolean;
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

interface Entry {
  fault: Fault;
  spared: number;
  left: number;
}

/** Which requests and events go wrong, and how. The first fault that is about one, not used up and lucky counts. */
export class FaultPlan {
  readonly #random: Random;
  #faults: Entry[] = [];
  #troublesWatches = false;

  constructor(faults: readonly Fault[], random: Random) {
    this.#random = random;
    this.replace(faults);
  }

  /** New faults; counts start anew. */
  replace(faults: readonly Fault[]): void {
    this.#faults = faults.map((fault) => ({ fault, spared: 0, left: fault.count ?? Infinity }));
    this.#troublesWatches = faults.some((fault) => isOfEvents(fault, 'watch'));
  }

  /** Whether events have to be looked at one by one. */
  get troublesWatches(): boolean {
    return this.#troublesWatches;
  }

  /** The fault of this request, which uses up one of its count. */
  match(target: FaultTarget): Fault | undefined {
    return this.#first((fault) => {
      if (isOfEvents(fault, target.verb) || !isAbout(fault, target)) return false;
      return fault.action !== 'stale' || target.mayBeStale === true;
    });
  }

  /**
   * The fault of one event of a watch, which uses up one of its count.
   * @param hasNext - another event goes out with it; without one there is nothing to change places with
   */
  matchEvent(target: FaultTarget, hasNext: boolean): Fault | undefined {
    return this.#first((fault) => isOfEvents(fault, 'watch') && isAbout(fault, target) && (hasNext || fault.action !== 'reorder'));
  }

  #first(concerns: (fault: Fault) => boolean): Fault | undefined {
    for (const entry of this.#faults) {
      const { fault } = entry;
      if (entry.left <= 0 || !concerns(fault)) continue;
      if (entry.spared < (fault.after ?? 0)) {
        entry.spared += 1;
        continue;
      }
      if (fault.probability !== undefined && this.#random() >= fault.probability) continue;
      entry.left -= 1;
      return fault;
    }
    return undefined;
  }
}
