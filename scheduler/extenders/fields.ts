import { isJsonObject, type JsonObject } from '../../kube/api/json.ts';

/** An answer is not what the protocol says. Its message begins with the field: `FailedNodes["a"] must be a string, not a number`. */
export class AnswerError extends Error {
  override name = 'AnswerError';
}

/**
 * A value of an answer and where it stands. What is absent or null counts as not said, as Go reads it.
 * Names of fields are found in whatever case they are written: extenders of all ages send `FailedNodes`, `failedNodes` or `failednodes`.
 */
export class Field {
  readonly #value: unknown;
  readonly #path: string;

  constructor(value: unknown, path = '') {
    this.#value = value ?? undefined;
    this.#path = path;
  }

  get isSaid(): boolean {
    return this.#value !== undefined;
  }

  /** One field of an object. @param name - as it is written today */
  in(name: string): Field {
    const object = this.#object();
    const path = this.#path === '' ? name : `${this.#path}.${name}`;
    if (object === undefined) return new Field(undefined, path);
    if (Object.hasOwn(object, name)) return new Field(object[name], path);
    const lower = name.toLowerCase();
    const key = Object.keys(object).find((key) => key.toLowerCase() === lower);
    return new Field(key === undefined ? undefined : object[key], path);
  }

  /** Entries of an object whose keys are data; their case counts. */
  *entries(): Iterable<[string, Field]> {
    for (const [key, value] of Object.entries(this.#object() ?? {})) yield [key, new Field(value, `${this.#path}[${JSON.stringify(key)}]`)];
  }

  /** Items of a list; undefined when there is none. */
  items(): readonly Field[] | undefined {
    const list: unknown = this.#value;
    if (list === undefined) return undefined;
    if (!Array.isArray(list)) throw this.wrong('a list');
    return list.map((item: unknown, index) => new Field(item, `${this.#path}[${index}]`));
  }

  /** '' when it is not said. */
  text(): string {
    if (this.#value === undefined) return '';
    if (typeof this.#value !== 'string') throw this.wrong('a string');
    return this.#value;
  }

  /** A text that has to be there. */
  name(): string {
    const text = this.text();
    if (text === '') throw this.wrong('a string that is not empty');
    return text;
  }

  /** 0 when it is not said. Of 32 bits: more than any score or count needs, and sums of it stay exact. */
  whole(): number {
    const value = this.#value ?? 0;
    if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) >= 2 ** 31) throw this.wrong('a whole number of 32 bits');
    return value;
  }

  wrong(wanted: string): AnswerError {
    return new AnswerError(`${this.#path === '' ? 'the answer' : this.#path} must be ${wanted}, not ${kindOf(this.#value)}`);
  }

  #object(): JsonObject | undefined {
    if (this.#value === undefined) return undefined;
    if (!isJsonObject(this.#value)) throw this.wrong('an object');
    return this.#value;
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'absent';
  if (Array.isArray(value)) return 'a list';
  if (value === '') return 'an empty one';
  return typeof value === 'object' ? 'an object' : typeof value === 'number' ? `the number ${value}` : `a ${typeof value}`;
}
