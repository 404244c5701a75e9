import type { KubeObject } from '../api/object.ts';

/** Longer strings rarely repeat, and looking them up costs more than it saves. */
const MAX_LENGTH = 128;

/**
 * One copy of each repeated string: node names, images, label values. Holds two generations of at most `most` strings: strings of the old generation that did
 * not repeat are dropped once the young one is full.
 * @param most - strings per generation. @default 50_000
 */
export class StringPool {
  readonly #most: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  constructor(most = 50_000) {
    this.#most = most;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** The shared copy of `text`. */
  one(text: string): string {
    if (text.length > MAX_LENGTH) return text;
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const kept = this.#old.get(text) ?? text;
    if (this.#young.size >= this.#most) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(kept, kept);
    return kept;
  }
}

/** Parts of objects with more values than are visited: counting them again would cost as much as visiting them. */
const large = new WeakSet<object>();

export function markLarge<T>(value: T): T {
  if (typeof value === 'object' && value !== null) large.add(value);
  return value;
}

const isLarge = (value: object): boolean => large.has(value);

/** Owners whose last object is remembered, per generation. */
const MAX_OWNERS = 5_000;

/**
 * Objects of one owner (pods of a ReplicaSet), and the states of one object, differ in a few fields only. The parts that a new object shares with a cached
 * one are stored once: this halves the memory of 150,000 pods. Safe, since cached objects are never modified.
 */
export class StructuralSharing {
  #young = new Map<string, KubeObject>();
  #old = new Map<string, KubeObject>();
  /** The object of the last call, of any owner. */
  #latest: KubeObject | undefined;

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /**
   * `next`, with each part that equals a sibling's replaced by the sibling's. The first object of an owner is compared with the object of the previous call:
   * where sets are small, most pods are the first of their owner, and pods of different owners share tolerations and conditions. Modifies `next`: nothing
   * else may refer to it.
   * @param held - the cached state of the same object, which resembles `next` most
   */
  share<T extends KubeObject>(next: T, held: T | undefined): T {
    const owner = next.metadata.ownerReferences?.[0]?.uid ?? '';
    const like = held ?? this.#young.get(owner) ?? this.#old.get(owner) ?? this.#latest;
    const kept = like === undefined ? next : (withPartsOf(like, next) as T);
    if (this.#young.size >= MAX_OWNERS && !this.#young.has(owner)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    // The latest object: after a change of the template the following objects resemble it.
    this.#young.set(owner, kept);
    this.#latest = kept;
    return kept;
  }
}

/** Servers accept JSON nested 10,000 deep, more than the stack of this process allows: below this depth nothing is shared. */
const MAX_DEPTH = 100;
/** Values of one object that are compared; further values are not shared. */
const MAX_VALUES = 20_000;

/** @returns `like` itself when both are equal, including the order of fields */
function withPartsOf(like: unknown, next: unknown, budget = { left: MAX_VALUES }, depth = 0): unknown {
  budget.left -= 1;
  if (like === next || typeof like !== 'object' || typeof next !== 'object' || like === null || next === null) return next;

  if (depth > MAX_DEPTH || budget.left < 0 || isLarge(next) || isLarge(like)) return next;
  if (Array.isArray(like) || Array.isArray(next)) {
    if (!Array.isArray(like) || !Array.isArray(next)) return next;
    let same = like.length === next.length;
    for (let at = 0; at < next.length; at++) {
      const kept = withPartsOf(like[at], next[at], budget, depth + 1);
      next[at] = kept;
      same &&= kept === like[at];
      if (budget.left < 0) return next;
    }
    return same ? like : next;
  }
  const [from, into] = [like as Record<string, unknown>, next as Record<string, unknown>];
  const theirs = Object.keys(from);
  let same = true;
  let count = 0;
  for (const field in into) {
    // Assigning `__proto__` would set the prototype, so an object with such a key is not shared.
    if (field === '__proto__') return next;
    if (theirs[count++] !== field) same = false;
    if (!Object.hasOwn(from, field)) continue;
    const kept = withPartsOf(from[field], into[field], budget, depth + 1);
    if (kept !== into[field]) into[field] = kept;
    same &&= kept === from[field];
    if (budget.left < 0) return next;
  }
  return same && count === theirs.length ? like : next;
}

/**
 * Freezes a cached object deeply: a write to it throws a TypeError at that line. For tests and for finding such writes; costs as much as reading the object
 * once.
 */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const below of Object.values(next)) open.push(below);
  }
  return value;
}
