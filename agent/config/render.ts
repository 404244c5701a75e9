import type { Json, JsonObject } from './contract.ts';
import { isList, isObject } from './document.ts';
import { plainScalar } from './yaml-scalar.ts';

/** Texts that are the same with and without quotes for every YAML reader, once `plainScalar` finds no other meaning in them. */
const PLAIN = /^[A-Za-z0-9_./~+-][A-Za-z0-9_./%+~-]*(?::[A-Za-z0-9_./%+~-]+)*$/;
/** Must be escaped: control characters that JSON lets stand, line ends of YAML 1.1, the byte order mark, and what is no character. */
const ESCAPED = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;
/** goyaml takes keys up to 1024 characters in the short form. */
const LONGEST_SHORT_KEY = 200;

/**
 * YAML in block style that reads back as exactly this object, by the kubelet's reader and by ours: keys in their order,
 * everything quoted that could be read as something else.
 */
export function renderYaml(object: JsonObject): string {
  const lines: string[] = [];
  if (Object.keys(object).length === 0) return '{}\n';
  mapping(object, '', lines);
  return `${lines.join('\n')}\n`;
}

function mapping(object: JsonObject, indent: string, lines: string[]): void {
  for (const [key, value] of Object.entries(object)) {
    const name = scalar(key);
    if (name.length > LONGEST_SHORT_KEY) lines.push(`${indent}? ${name}`);
    entry(value, name.length > LONGEST_SHORT_KEY ? `${indent}:` : `${indent}${name}:`, indent, lines);
  }
}

function entry(value: Json, lead: string, indent: string, lines: string[]): void {
  if (!isNested(value)) {
    lines.push(`${lead} ${scalar(value)}`);
    return;
  }
  lines.push(lead);
  if (isList(value)) sequence(value, `${indent}  `, lines);
  else if (isObject(value)) mapping(value, `${indent}  `, lines);
}

function sequence(list: readonly Json[], indent: string, lines: string[]): void {
  for (const item of list) {
    if (!isNested(item)) {
      lines.push(`${indent}- ${scalar(item)}`);
      continue;
    }
    // The first line of a nested block stands behind the dash, which is as wide as its indent.
    const start = lines.length;
    if (isList(item)) sequence(item, `${indent}  `, lines);
    else if (isObject(item)) mapping(item, `${indent}  `, lines);
    lines[start] = `${indent}- ${(lines[start] ?? '').slice(indent.length + 2)}`;
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
    !isWord(value)
  )
    return value;
  return JSON.stringify(value.toWellFormed()).replaceAll(ESCAPED, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Words that only some readers take for something else. */
function isWord(value: string): boolean {
  return /^[-+~]/.test(value) || /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$/i.test(value);
}
