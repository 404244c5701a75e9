import { LARGEST_ORDINAL } from '../../kube/api/ordinals.ts';
import type { OwnerReference } from '../../kube/api/object.ts';

/** Which places a set has. */
export interface PlacesOptions {
  /** The first ordinal. */
  start: number;
  /** How many. */
  replicas: number;
  /** Ordinals that are left out: ascending, without repetition. */
  reserved: readonly number[];
}

/**
 * The places of a set, numbered from 0 on, and the ordinal of each: ascending, reserved ones left out. It lists nothing, so two billion replicas take
 * no more memory and no more time than two.
 */
export class Places {
  /** How many there are. No ordinal is beyond 31 bits. */
  readonly length: number;
  readonly #start: number;
  readonly #skipped: readonly number[];

  constructor({ start, replicas, reserved }: PlacesOptions) {
    this.#start = start;
    this.#skipped = reserved.filter((ordinal) => ordinal >= start);
    this.length = Math.max(0, Math.min(replicas, LARGEST_ORDINAL - start + 1 - this.#skipped.length));
  }

  /** @param at - from 0 to below `length` */
  ordinalAt(at: number): number {
    const { length } = this.#skipped;
    // Before the i-th that is left out there are so many places.
    const left = firstWhere(length, (i) => (this.#skipped[i] ?? 0) - this.#start - i > at);
    return this.#start + at + left;
  }

  /** @returns undefined for an ordinal that has no place */
  placeOf(ordinal: number): number | undefined {
    if (ordinal < this.#start) return undefined;
    const left = firstWhere(this.#skipped.length, (i) => (this.#skipped[i] ?? 0) >= ordinal);
    const at = ordinal - this.#start - left;
    return this.#skipped[left] === ordinal || at >= this.length ? undefined : at;
  }
}

/** The first index that it holds for, as it does for all after it; `length` for none. */
function firstWhere(length: number, holds: (index: number) => boolean): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Both are on every pod of a set, so that a service can be had for one of them. */
export const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
export const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index';

export function podName(set: string, ordinal: number): string {
  return `${set}-${ordinal}`;
}

/** @param template - name of the claim template */
export function claimName(template: string, set: string, ordinal: number): string {
  return `${template}-${set}-${ordinal}`;
}

/** Whom a reference names, whichever of that name it is. */
export type Named = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>;

export function refersTo(ref: Named, { apiVersion, kind, name }: Named): boolean {
  return ref.apiVersion === apiVersion && ref.kind === kind && ref.name === name;
}
