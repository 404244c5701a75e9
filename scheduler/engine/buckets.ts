/**
 * Slots by whole points: the best ones are known at once, and a slot changes its points in constant time. Points are 0 to the capacity given.
 */
export class Buckets {
  readonly #buckets: number[][];
  readonly #at: Int32Array;
  #best = -1;
  #size = 0;

  constructor(slots: number, most: number) {
    this.#buckets = Array.from({ length: most + 1 }, () => []);
    this.#at = new Int32Array(slots).fill(-1);
  }

  get size(): number {
    return this.#size;
  }

  /** Slots with the most points, in no particular order; empty without any. */
  get best(): readonly number[] {
    while (this.#best >= 0 && this.#buckets[this.#best]?.length === 0) this.#best -= 1;
    return this.#buckets[this.#best] ?? none;
  }

  add(slot: number, points: number): void {
    const bucket = this.#bucket(points);
    this.#at[slot] = bucket.length;
    bucket.push(slot);
    this.#size += 1;
    if (points > this.#best) this.#best = points;
  }

  remove(slot: number, points: number): void {
    const bucket = this.#bucket(points);
    const at = this.#at[slot] ?? -1;
    const last = bucket.pop();
    this.#at[slot] = -1;
    this.#size -= 1;
    if (last === undefined || last === slot) return;
    bucket[at] = last;
    this.#at[last] = at;
  }

  #bucket(points: number): number[] {
    const bucket = this.#buckets[points];
    if (bucket === undefined) throw new RangeError(`${points} points are more than there can be`);
    return bucket;
  }
}

const none: readonly number[] = [];
