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

export const isLarge = (value: object): boolean => large.has(value);
