import { goDuration } from '../../base/go-duration.ts';
import type { Millis } from '../../base/clock.ts';

/** Max characters of a value. The longest valid one lists ten thousand ordinals one by one. */
const MAX_TEXT = 128 * 1024;

/**
 * Reads the opt-in annotations of an object. Pure. An annotation that cannot be parsed is treated as absent and listed in `problems`: the caller must know,
 * because the limit that the annotation was meant to set is unknown.
 */
export class AnnotationReader {
  readonly #annotations: Readonly<Record<string, string>>;
  readonly #problems: string[] = [];

  constructor(annotations: Readonly<Record<string, string>>) {
    this.#annotations = annotations;
  }

  /** One sentence for each annotation that cannot be parsed: name, value, remedy. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /**
   * @param parse - gets the trimmed text; returns undefined when the text is invalid
   * @param remedy - what to write instead, such as `write a number`
   */
  read<T>(name: string, parse: (text: string) => T | undefined, remedy: string): T | undefined {
    const text = Object.hasOwn(this.#annotations, name) ? this.#annotations[name]?.trim() : undefined;
    if (text === undefined) return undefined;
    const value = text.length > MAX_TEXT ? undefined : parse(text);
    if (value === undefined) this.#problems.push(`${name} is ${JSON.stringify(text.slice(0, 60))}; ${remedy}`);
    return value;
  }

  /** False unless the value is `true`. */
  flag(name: string): boolean {
    return this.read(name, booleanOf, 'write "true" or "false"') ?? false;
  }

  duration(name: string): Millis | undefined {
    return this.read(name, durationOf, 'write a duration above 0, such as "10m"');
  }
}

/** @returns undefined unless the text is a count or a percentage of at most 100% */
export function countOrShare(text: string): number | string | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  return /^\d{1,3}%$/.test(text) && Number(text.slice(0, -1)) <= 100 ? text : undefined;
}

/** Lowercase only, as everywhere in Kubernetes. */
function booleanOf(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

function durationOf(text: string): Millis | undefined {
  const nanos = goDuration(text);
  return nanos === undefined || nanos <= 0n ? undefined : Math.max(1, Math.round(Number(nanos / 1_000n) / 1_000));
}
