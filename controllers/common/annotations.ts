import { goDuration } from '../../base/go-duration.ts';
import type { Millis } from '../../base/clock.ts';

/** Characters of an annotation. Ten thousand ordinals, each written alone, are as many as they can be. */
const MAX_TEXT = 128 * 1024;

/**
 * Reads the annotations by which the author of an object asks for what its fields cannot say. Pure; what cannot be read is as if it were not there, and
 * named in `problems`, since what it wanted to limit is unknown then.
 */
export class AnnotationReader {
  readonly #annotations: Readonly<Record<string, string>>;
  readonly #problems: string[] = [];

  constructor(annotations: Readonly<Record<string, string>>) {
    this.#annotations = annotations;
  }

  /** A sentence for each that could not be read: annotation, value, remedy. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /**
   * @param parse - gets the text without the blanks around it; undefined when it makes no sense
   * @param remedy - what to write instead, such as `write a number`
   */
  read<T>(name: string, parse: (text: string) => T | undefined, remedy: string): T | undefined {
    const text = Object.hasOwn(this.#annotations, name) ? this.#annotations[name]?.trim() : undefined;
    if (text === undefined) return undefined;
    const value = text.length > MAX_TEXT ? undefined : parse(text);
    if (value === undefined) this.#problems.push(`${name} is ${JSON.stringify(text.slice(0, 60))}; ${remedy}`);
    return value;
  }

  /** Off unless it says `true`. */
  flag(name: string): boolean {
    return this.read(name, booleanOf, 'write "true" or "false"') ?? false;
  }

  duration(name: string): Millis | undefined {
    return this.read(name, durationOf, 'write a duration above 0, such as "10m"');
  }
}

/** @returns undefined for what is neither a count nor a share of at most all */
export function countOrShare(text: string): number | string | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  return /^\d{1,3}%$/.test(text) && Number(text.slice(0, -1)) <= 100 ? text : undefined;
}

/** In these letters only, as everywhere in Kubernetes. */
function booleanOf(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

function durationOf(text: string): Millis | undefined {
  const nanos = goDuration(text);
  return nanos === undefined || nanos <= 0n ? undefined : Math.max(1, Math.round(Number(nanos / 1_000n) / 1_000));
}
