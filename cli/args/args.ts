import type { Millis } from '../../base/clock.ts';

/** A value as the parser leaves it: durations are milliseconds by then. */
export type ArgValue = string | number | boolean;

/** What was given on the command line, read by name. Asking for a name that the command does not declare is a bug and throws. */
export class Args {
  readonly #flags: ReadonlyMap<string, ArgValue | undefined>;
  readonly #positionals: ReadonlyMap<string, readonly string[]>;
  readonly #lists: ReadonlyMap<string, readonly string[]>;

  /** @param flags - every declared flag, undefined where it is absent; @param positionals - every declared one, empty where absent; @param lists - all values of flags that may be given more than once */
  constructor(
    flags: ReadonlyMap<string, ArgValue | undefined>,
    positionals: ReadonlyMap<string, readonly string[]>,
    lists: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {
    this.#flags = flags;
    this.#positionals = positionals;
    this.#lists = lists;
  }

  text(name: string): string | undefined {
    const value = this.#flag(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** Every value of a flag that may be given more than once, in their order; empty when absent. */
  texts(name: string): readonly string[] {
    const last = this.text(name);
    return this.#lists.get(name) ?? (last === undefined ? [] : [last]);
  }

  /** False when absent. */
  on(name: string): boolean {
    return this.#flag(name) === true;
  }

  /** For numbers and counts. */
  number(name: string): number | undefined {
    const value = this.#flag(name);
    return typeof value === 'number' ? value : undefined;
  }

  /** For durations. */
  ms(name: string): Millis | undefined {
    return this.number(name);
  }

  /** As it was given, whatever its type; undefined when absent. */
  value(name: string): ArgValue | undefined {
    return this.#flag(name);
  }

  /** A positional that takes one value. */
  one(name: string): string | undefined {
    return this.many(name)[0];
  }

  many(name: string): readonly string[] {
    const values = this.#positionals.get(name);
    if (values === undefined) throw new TypeError(`the command declares no positional ${name}`);
    return values;
  }

  /** Whether the command declares this flag. */
  has(name: string): boolean {
    return this.#flags.has(name);
  }

  #flag(name: string): ArgValue | undefined {
    if (!this.#flags.has(name)) throw new TypeError(`the command declares no flag --${name}`);
    return this.#flags.get(name);
  }
}
