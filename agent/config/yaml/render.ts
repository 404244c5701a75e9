import type { Json, JsonObject } from '../contract.ts';
import { isList, isObject } from '../decode/document.ts';
import { plainScalar } from './scalar.ts';

/** Texts that every YAML reader reads the same with and without quotes, if `plainScalar` reads them as strings. */
const PLAIN = /^[A-Za-z0-9_./~+-][A-Za-z0-9_./%+~-]*(?::[A-Za-z0-9_./%+~-]+)*$/;
/** Must be escaped: control characters that JSON does not escape, line ends of YAML 1.1, the byte order mark, and noncharacters. */
const ESCAPED = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;
/** Longest key in the short form, in characters; goyaml accepts up to 1024. */
const MAX_SHORT_KEY_LENGTH = 200;

/**
 * YAML in block style that reads back as exactly this object, by the kubelet's reader and by ours: keys in their order,
 * everything quoted that could be read as something else.
 */
export function renderYaml(object: JsonObject): string {
  return new Writer(Number.POSITIVE_INFINITY).text(object) ?? '';
}

/** As {@link renderYaml}; undefined where the result would exceed `most` characters: indentation, escapes and aliases may expand a short text. */
export function renderYamlWithin(object: JsonObject, most: number): string | undefined {
  return new Writer(most).text(object);
}

class Writer {
  readonly #lines: string[] = [];
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  text(object: JsonObject): string | undefined {
    if (Object.keys(object).length === 0) return '{}\n';
    this.#mapping(object, '');
    return this.#left < 0 ? undefined : `${this.#lines.join('\n')}\n`;
  }

  #line(line: string): void {
    this.#left -= line.length + 1;
    if (this.#left >= 0) this.#lines.push(line);
  }

  #mapping(object: JsonObject, indent: string): void {
    for (const [key, value] of Object.entries(object)) {
      if (this.#left < 0) return;
      const name = scalar(key);
      if (name.length > MAX_SHORT_KEY_LENGTH) this.#line(`${indent}? ${name}`);
      this.#entry(value, name.length > MAX_SHORT_KEY_LENGTH ? `${indent}:` : `${indent}${name}:`, indent);
    }
  }

  #entry(value: Json, lead: string, indent: string): void {
    if (!isNested(value)) {
      this.#line(`${lead} ${scalar(value)}`);
      return;
    }
    this.#line(lead);
    if (isList(value)) this.#sequence(value, `${indent}  `);
    else if (isObject(value)) this.#mapping(value, `${indent}  `);
  }

  #sequence(list: readonly Json[], indent: string): void {
    for (const item of list) {
      if (this.#left < 0) return;
      if (!isNested(item)) {
        this.#line(`${indent}- ${scalar(item)}`);
        continue;
      }
      // The first line of a nested block is on the line of the dash, which is as wide as the indent.
      const start = this.#lines.length;
      if (isList(item)) this.#sequence(item, `${indent}  `);
      else if (isObject(item)) this.#mapping(item, `${indent}  `);
      this.#lines[start] = `${indent}- ${(this.#lines[start] ?? '').slice(indent.length + 2)}`;
    }
  }
}

function isNested(value: Json): boolean {
  return isList(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0;
}

function scalar(value: Json): string {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  return isList(value) ? '[]' : '{}';
}

function text(value: string): string {
  // A text of digits, dots or dashes alone (`---`, `2026-01-01`) is a string for some readers only.
  if (
    value.length < 1024 &&
    PLAIN.test(value) &&
    plainScalar(value) === value &&
    /[A-Za-z]/.test(value) &&
    !/^[-+.]*[0-9]/.test(value) &&
    !isKeyword(value)
  )
    return value;
  return JSON.stringify(value.toWellFormed()).replaceAll(ESCAPED, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Words that some YAML readers read as another type. */
function isKeyword(value: string): boolean {
  return /^[-+~]/.test(value) || /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$/i.test(value);
}
