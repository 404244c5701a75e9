/** A value as JSON can carry it. */
export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `object[key]` where it is an own property; never an inherited one, so that a key like `constructor` finds nothing. */
export function ownField(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a field as JSON.parse would: a field called `__proto__` becomes data and never the prototype. */
export function setField(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Frames that a comparison may take; what is nested deeper is compared without them. */
const MAX_FRAMES = 200;

/** Whether two JSON values say the same, however deep they are. Order of fields does not count; a field that is undefined counts as absent. */
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

/** The same with a list of what is still to be compared in the place of the stack. */
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
 * JSON as API servers write it themselves: fields sorted, and what HTML could take for its own escaped in strings.
 *
 * A field that must not change is compared byte for byte by some of them (`data` of a ControllerRevision), and a strategic merge patch of anything
 * else in the object makes the server write it again: what was created in other words can then not be patched any more.
 */
export function goJson(value: unknown): string {
  const text: string[] = [];
  // A list of what is still to be written in the place of the stack, which a deep value would overflow.
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

/** Above this a call for each escape would take long: a string may be a megabyte of them. */
const MAX_LENGTH = 10_000;
/** Of single bytes, and of those behind a backslash. */
const escapes = (of: Readonly<Record<string, string>>): readonly (Uint8Array | undefined)[] =>
  Array.from({ length: 256 }, (_, byte) => {
    const text = of[String.fromCharCode(byte)];
    return text === undefined ? undefined : Buffer.from(text, 'latin1');
  });
const OF_BYTE = escapes({ '<': unicode('<'), '>': unicode('>'), '&': unicode('&') });
const BEHIND_BACKSLASH = escapes({ b: unicode('\b'), f: unicode('\f') });
const BACKSLASH = 0x5c;
/** How both line separators begin in UTF-8; the third byte tells them apart. */
const [SEPARATOR, SEPARATOR_SECOND] = [0xe2, 0x80];
const OF_SEPARATOR = escapes({ '\u00a8': unicode('\u2028'), '\u00a9': unicode('\u2029') });

/** The same as with {@link ESCAPED}, byte by byte. @param json - as JSON.stringify has it */
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

/** In what JSON.stringify has made of a string; an escaped backslash is taken along, so that what follows it is not taken for an escape. */
const ESCAPED = /\\\\|\\b|\\f|[<>&\u2028\u2029]/g;
const SHORT: Readonly<Record<string, string>> = { '\\\\': '\\\\', '\\b': '\\u0008', '\\f': '\\u000c' };

const text: unique symbol = Symbol('JSON text');

/** The object, to be sent in exactly these words. What is changed in it afterwards is not sent. */
export function inGoJson<T extends object>(object: T): T {
  return { ...object, [text]: goJson(object) };
}

/** What is sent for a value. */
export function jsonTextOf(value: unknown): string {
  const exact = typeof value === 'object' && value !== null ? (value as { [text]?: string })[text] : undefined;
  return exact ?? JSON.stringify(value);
}
