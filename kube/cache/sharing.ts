import type { KubeObject } from '../api/object.ts';

/** Longer strings are rarely the same twice, and finding out costs more than it saves. */
const MAX_LENGTH = 128;

/**
 * One copy of each string that comes again and again: node names, images, label values. Holds at most twice `most` strings: those of a full
 * generation are forgotten once the next one is full and they did not come again.
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

  /** The copy to keep of `text`. */
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

/** Parts of objects with more values than anybody walks: to count them again would cost as much as walking them. */
const large = new WeakSet<object>();

export function markLarge<T>(value: T): T {
  if (typeof value === 'object' && value !== null) large.add(value);
  return value;
}

const isLarge = (value: object): boolean => large.has(value);

/** Owners whose last object is remembered, per generation. */
const MAX_OWNERS = 5_000;

/**
 * Objects of one owner (pods of a ReplicaSet), and the states of one object, are alike but for a few fields. What a new one has in common with one that
 * is kept already is kept once: of 150,000 pods half the memory. Safe, since cached objects are never changed.
 */
export class StructuralSharing {
  #young = new Map<string, KubeObject>();
  #old = new Map<string, KubeObject>();
  /** Its owner. */
  #latest: KubeObject | undefined;

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /**
   * `next`, with every part that a sibling has too replaced by the sibling's. The first of an owner is compared with the object before it: where sets are
   * small, most pods are the first, and strangers have tolerations and conditions in common. Takes parts of `next` apart: it must be fresh and known to nobody.
   * @param held - the state of the same object that is kept so far, which is the closest relative
   */
  share<T extends KubeObject>(next: T, held: T | undefined): T {
    const owner = next.metadata.ownerReferences?.[0]?.uid ?? '';
    const like = held ?? this.#young.get(owner) ?? this.#old.get(owner) ?? this.#latest;
    const kept = like === undefined ? next : (withPartsOf(like, next) as T);
    if (this.#young.size >= MAX_OWNERS && !this.#young.has(owner)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    // The latest: after a change of the template those that follow are like it.
    this.#young.set(owner, kept);
    this.#latest = kept;
    return kept;
  }
}

/** Servers take JSON that is nested 10,000 deep, more than our stack does: below this nothing is shared. */
const MAX_DEPTH = 100;
/** Values of one object that are compared; those beyond are not shared. */
const MAX_VALUES = 20_000;

/** @returns `like` itself when both are the same, word for word and in the same order */
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
    // Assigning it would set the prototype; who uses such a name has it for himself.
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
 * Freezes a cached object deeply: code that writes to it throws a TypeError at that line. For tests and for finding
 * out who does; it costs as much as reading the object once.
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
