/** A value as JSON can carry it. */
export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a JSON object; none for any other value. */
export const fieldsOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** `object[key]` where it is an own property; never an inherited one, so that a key like `constructor` finds nothing. */
export function ownField(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a field as JSON.parse would: a field called `__proto__` becomes data and never the prototype. */
export function setField(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Recursion depth of a comparison; deeper values are compared without recursion. */
const MAX_FRAMES = 200;

/** Whether two JSON values are equal, however deep they are. The order of fields does not count; an undefined field counts as absent. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  return equal(left, right, 0);
}

function equal(left: unknown, right: unknown, depth: number): boolean {
  if (Object.is(left, right) || left === right) return true;
  if (depth > MAX_FRAMES) return equalByParts(left, right);
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, index) => equal(item, right[index], depth + 1));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = definedKeys(left);
  return keys.length === definedKeys(right).length && keys.every((key) => equal(left[key], ownField(right, key), depth + 1));
}

/** The same with a list of pending pairs in place of recursion. */
function equalByParts(left: unknown, right: unknown): boolean {
  const open: [unknown, unknown][] = [[left, right]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [a, b] = pair;
    if (Object.is(a, b) || a === b) continue;
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
      for (const [at, item] of a.entries()) open.push([item, b[at]]);
      continue;
    }
    if (!isJsonObject(a) || !isJsonObject(b)) return false;
    const keys = definedKeys(a);
    if (keys.length !== definedKeys(b).length) return false;
    for (const key of keys) open.push([a[key], ownField(b, key)]);
  }
  return true;
}

function definedKeys(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}

/** Whether lists and objects nest deeper than `levels`. Not recursive, so that it can check what would overflow the stack of other code. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item).filter(isContainer) : []));
  }
  return false;
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/**
 * JSON as API servers write it: fields sorted, and characters with a meaning in HTML escaped in strings.
 *
 * Some servers compare an immutable field byte for byte (`data` of a ControllerRevision), and encode it again for a strategic merge patch of anything else in
 * the object: an object that was created in another encoding can then no longer be patched.
 */
export function goJson(value: unknown): string {
  const text: string[] = [];
  // A list of pending parts in place of recursion, which would overflow the stack for a deep value.
  const open: (string | { value: unknown })[] = [{ value }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') {
      text.push(next);
      continue;
    }
    const parts = partsOf(next.value);
    if (typeof parts === 'string') text.push(parts);
    else for (const part of parts.toReversed()) open.push(part);
  }
  return text.join('');
}

function partsOf(value: unknown): string | (string | { value: unknown })[] {
  if (typeof value === 'string') return goString(value);
  if (Array.isArray(value))
    return ['[', ...value.flatMap((item: unknown, at) => [...(at === 0 ? [] : [',']), { value: item ?? null }]), ']'];
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return ['{', ...fields.flatMap(([name, field], at) => [`${at === 0 ? '' : ','}${goString(name)}:`, { value: field as unknown }]), '}'];
}

function goString(text: string): string {
  const json = JSON.stringify(text.toWellFormed());
  return json.length > MAX_LENGTH ? escapedLong(json) : json.replace(ESCAPED, (found) => SHORT[found] ?? unicode(found));
}

function unicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** For longer strings a call for each escape would take long: a string may be a megabyte of them. */
const MAX_LENGTH = 10_000;
/** Escapes of single bytes, and of bytes after a backslash. */
const escapes = (of: Readonly<Record<string, string>>): readonly (Uint8Array | undefined)[] =>
  Array.from({ length: 256 }, (_, byte) => {
    const text = of[String.fromCharCode(byte)];
    return text === undefined ? undefined : Buffer.from(text, 'latin1');
  });
const OF_BYTE = escapes({ '<': unicode('<'), '>': unicode('>'), '&': unicode('&') });
const BEHIND_BACKSLASH = escapes({ b: unicode('\b'), f: unicode('\f') });
const BACKSLASH = 0x5c;
/** The first bytes of both line separators in UTF-8; the third byte differs. */
const [SEPARATOR, SEPARATOR_SECOND] = [0xe2, 0x80];
const OF_SEPARATOR = escapes({ '\u00a8': unicode('\u2028'), '\u00a9': unicode('\u2029') });

/** The same as with {@link ESCAPED}, byte by byte. @param json - the output of JSON.stringify */
function escapedLong(json: string): string {
  const from = Buffer.from(json);
  const into = Buffer.allocUnsafe(6 * from.length);
  let length = 0;
  for (let at = 0; at < from.length; at++) {
    const byte = from[at] ?? 0;
    let escape = OF_BYTE[byte];
    if (byte === BACKSLASH) {
      at += 1;
      escape = BEHIND_BACKSLASH[from[at] ?? 0];
      if (escape === undefined) {
        into[length++] = byte;
        into[length++] = from[at] ?? 0;
        continue;
      }
    } else if (byte === SEPARATOR && from[at + 1] === SEPARATOR_SECOND) {
      escape = OF_SEPARATOR[from[at + 2] ?? 0];
      if (escape !== undefined) at += 2;
    }
    if (escape === undefined) into[length++] = byte;
    else for (let n = 0; n < escape.length; n++) into[length++] = escape[n] ?? 0;
  }
  return into.toString('utf8', 0, length);
}

/** For the output of JSON.stringify; an escaped backslash matches too, so that the character after it is not mistaken for an escape. */
const ESCAPED = /\\\\|\\b|\\f|[<>&\u2028\u2029]/g;
const SHORT: Readonly<Record<string, string>> = { '\\\\': '\\\\', '\\b': '\\u0008', '\\f': '\\u000c' };

const text: unique symbol = Symbol('JSON text');

/** The object with its encoding fixed now: changes made afterwards are not sent. */
export function inGoJson<T extends object>(object: T): T {
  return { ...object, [text]: goJson(object) };
}

/** The JSON that is sent for a value. */
export function jsonTextOf(value: unknown): string {
  const exact = typeof value === 'object' && value !== null ? (value as { [text]?: string })[text] : undefined;
  return exact ?? JSON.stringify(value);
}
