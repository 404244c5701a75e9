import { REDACTED } from './text.ts';

/** Maximum number of different values of each kind. */
const MAX_VALUES = 5_000;
/** Of longer values only the words are kept. */
const MAX_LENGTH = 16 * 1024;
const SHORTEST_SECRET = 4;
/** Minimum length of words of a value. Words of `unlisted` values must also be distinctive: no plain words or numbers. */
const SHORTEST_PART = 8;

/**
 * Collects secrets from credentials and withheld fields while the bundle is made, and removes them from all other texts: a kubelet
 * logs its flags, and an error message quotes text that could not be parsed.
 */
export class KnownValues {
  readonly #values = { secret: new Set<string>(), unlisted: new Set<string>() };
  #finder: Finder | undefined;

  readonly add = (value: string, why: 'secret' | 'unlisted'): void => {
    const whole = value.trim();
    if (why === 'secret' && whole.length >= SHORTEST_SECRET && whole.length <= MAX_LENGTH && !isCommonWord(whole)) this.#keep(whole, why);
    // Logs may quote a key line by line, and a header's token without its scheme.
    for (const part of whole.split(/\s+/))
      if (part.length >= SHORTEST_PART && part.length <= MAX_LENGTH && !part.includes('-----') && (why === 'secret' || !isPlain(part)))
        this.#keep(part, why);
  };

  /** Removes all values. Time is linear in the length of the text and independent of the number of values. */
  sweep(text: string): string {
    const { secret, unlisted } = this.#values;
    this.#finder ??= new Finder([...secret, ...unlisted].flatMap(formsOf));
    return this.#finder.sweep(text);
  }

  #keep(value: string, why: 'secret' | 'unlisted'): void {
    if (this.#values[why].size >= MAX_VALUES) return;
    this.#values[why].add(value);
    this.#finder = undefined;
  }
}

/** Schemes of a header, short numbers and booleans are not secrets. */
const isCommonWord = (text: string): boolean => /^(?:bearer|basic|true|false|null|\d{1,5})$/i.test(text);
const isPlain = (text: string): boolean => /^(?:[a-z][a-z.-]*|[A-Z][a-z]+|[\d.:/]+|[A-Za-z]+\/[\w.]+)$/.test(text);

/** The value unchanged, in JSON, in a URL and in base64. */
function formsOf(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed()), ...base64Forms(value)];
}

/** Parts of `text` in base64 that do not depend on the text before and after it, for all three alignments. */
function base64Forms(text: string): string[] {
  if (text.length < SHORTEST_PART + 1) return [];
  return [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]);
    const coded = bytes.toString('base64').replaceAll('=', '');
    return coded.slice(shift === 0 ? 0 : shift + 1, bytes.length % 3 === 0 ? undefined : -1);
  });
}

/** Number of characters in the first lookup; every form has at least this many. */
const HEAD = SHORTEST_SECRET;
const MASK = 0xffff;

/** Finds many strings in one pass over a text: most positions need one lookup by their first characters, the others one lookup per length. */
class Finder {
  readonly #mayBegin = new Uint8Array(MASK + 1);
  /** By first characters, then by length; longest first, so that no part of a longer value is left. */
  readonly #byHead = new Map<string, Map<number, Set<string>>>();

  constructor(forms: readonly string[]) {
    for (const form of [...new Set(forms)].toSorted((a, b) => b.length - a.length)) {
      const head = form.slice(0, HEAD);
      const byLength = this.#byHead.get(head) ?? new Map<number, Set<string>>();
      byLength.set(form.length, (byLength.get(form.length) ?? new Set()).add(form));
      this.#byHead.set(head, byLength);
      this.#mayBegin[hashAt(form, 0)] = 1;
    }
  }

  sweep(text: string): string {
    if (this.#byHead.size === 0) return text;
    const parts: string[] = [];
    let from = 0;
    for (let at = 0; at + HEAD <= text.length; at++) {
      if (this.#mayBegin[hashAt(text, at)] === 0) continue;
      const length = this.#lengthAt(text, at);
      if (length === undefined) continue;
      parts.push(text.slice(from, at), REDACTED);
      from = at + length;
      at = from - 1;
    }
    return from === 0 ? text : [...parts, text.slice(from)].join('');
  }

  #lengthAt(text: string, at: number): number | undefined {
    for (const [length, forms] of this.#byHead.get(text.slice(at, at + HEAD)) ?? [])
      if (forms.has(text.slice(at, at + length))) return length;
    return undefined;
  }
}

const hashAt = (text: string, at: number): number =>
  (text.charCodeAt(at) * 29_791 + text.charCodeAt(at + 1) * 961 + text.charCodeAt(at + 2) * 31 + text.charCodeAt(at + 3)) & MASK;
