import { REDACTED } from './text.ts';

/** So many different ones are remembered. */
const MAX_VALUES = 2_000;
const SHORTEST_SECRET = 4;
/** Of parts, and of texts that are withheld without being secret by their meaning, only those that stand for nothing else: no word, no number. */
const SHORTEST_PART = 8;

/**
 * Secrets that were seen while the bundle was made, in credentials and in withheld fields. They are then removed wherever else they stand: a kubelet
 * logs its flags, and an error message quotes what could not be read.
 */
export class KnownValues {
  readonly #values = new Set<string>();

  readonly add = (value: string, why: 'secret' | 'unlisted'): void => {
    const whole = value.trim();
    if (why === 'secret' && whole.length >= SHORTEST_SECRET && !isWord(whole)) this.#keep(whole);
    // A key is quoted line by line, a header without the word before its token.
    for (const part of whole.split(/\s+/))
      if (part.length >= SHORTEST_PART && !part.includes('-----') && (why === 'secret' || !isPlain(part))) this.#keep(part);
  };

  #keep(value: string): void {
    if (this.#values.size < MAX_VALUES) this.#values.add(value);
  }

  /** Longest first, so that no part of one is left behind. */
  sweep(text: string): string {
    let swept = text;
    for (const value of [...this.#values].toSorted((a, b) => b.length - a.length)) {
      for (const form of new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])) {
        if (swept.includes(form)) swept = swept.replaceAll(form, REDACTED);
      }
      for (const form of base64Forms(value)) if (swept.includes(form)) swept = swept.replaceAll(form, REDACTED);
    }
    return swept;
  }
}

/** Scheme words of a header, numbers and switches are no secrets on their own. */
const isWord = (text: string): boolean => /^(?:bearer|basic|true|false|null|\d{1,5})$/i.test(text);
const isPlain = (text: string): boolean => /^(?:[a-z][a-z.-]*|[A-Z][a-z]+|[\d.:/]+|[A-Za-z]+\/[\w.]+)$/.test(text);

/** What of `text` in base64 does not depend on what stands before and after it. */
function base64Forms(text: string): string[] {
  if (text.length < 9) return [];
  return [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)]);
    const coded = bytes.toString('base64').replaceAll('=', '');
    return coded.slice(shift === 0 ? 0 : shift + 1, bytes.length % 3 === 0 ? undefined : -1);
  });
}
