import type { Random } from '../../../../base/random.ts';

/** Choices of a generator. */
export class Chance {
  readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  /** True in `percent` of 100. */
  of(percent: number): boolean {
    return this.random() * 100 < percent;
  }

  /** In `percent` of 100 what is made, else nothing: to be spread into an object. */
  maybe<T extends object>(percent: number, make: () => T): T | Record<never, never> {
    return this.of(percent) ? make() : {};
  }

  /** 0 to `below` - 1. */
  upTo(below: number): number {
    return Math.floor(this.random() * below);
  }

  /** One of a list. @throws {RangeError} when there is none */
  one<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('nothing to choose from');
    return list[this.upTo(list.length)] as T;
  }

  /** Each of a list with the same chance, in its order. */
  some<T>(list: readonly T[], percent: number): T[] {
    return list.filter(() => this.of(percent));
  }
}
