import type { ObjectMeta } from '../api/object.ts';

/*
 * Scans the JSON of a server before it is parsed, or in place of parsing: `JSON.parse` blocks the event loop and takes memory.
 */

/** Structural bytes of JSON. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;

/**
 * The most commas, colons and opening brackets that an object's JSON may have outside of strings: `JSON.parse` handles them in one turn of the event loop. In
 * the worst case found, objects of 20 members with names that no other object has, 100,000 took 52 ms of processor time and 200,000 took 111.
 */
export const MAX_JSON_VALUES = 100_000;

/**
 * Whether a JSON text has more than {@link MAX_JSON_VALUES} commas, colons and opening brackets outside of strings. Costs a nanosecond a byte, and nothing
 * for a text that is too short for so many.
 */
export function hasTooManyValues(text: Uint8Array): boolean {
  const { length } = text;
  if (length <= MAX_JSON_VALUES) return false;
  let count = 0;
  let at = 0;
  while (at < length) {
    const byte = text[at++];
    if (byte === QUOTE) {
      // Skip the string: most of a large object is in strings.
      for (let inside = text[at++]; inside !== QUOTE && at < length; inside = text[at++]) if (inside === BACKSLASH) at++;
    } else if (byte === COMMA || byte === COLON || byte === OPEN_OBJECT || byte === OPEN_LIST) {
      count++;
      if (count > MAX_JSON_VALUES) return true;
    }
  }
  return false;
}

const NAME = Buffer.from('"managedFields":[');
const METADATA = Buffer.from('"metadata":');

/** `object.metadata.managedFields` of an event is this deep; those of an item of a list are one less. */
const IN_EVENT = 3;
export const IN_ITEM = 2;

/**
 * The text of a watch event without the `managedFields` of its object, which are half of a pod's bytes, and which no cache keeps: skipping them is much
 * cheaper than parsing them. Fields that are not where servers write them stay in the text.
 * @param line - JSON, as UTF-8
 * @param depth - of the fields. @default as in an event
 */
export function withoutManagedFields(line: Uint8Array, depth = IN_EVENT): Uint8Array {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  const from = bytes.indexOf(NAME);
  // After a comma, since servers write it last. A first field is left in.
  if (from <= 0 || bytes[from - 1] !== COMMA || !isInMetadata(bytes, from, depth)) return line;
  const end = endOfList(bytes, from + NAME.length - 1);
  return end === undefined ? line : Buffer.concat([bytes.subarray(0, from - 1), bytes.subarray(end)]);
}

/** Whether the innermost object that is open before `at` is `metadata`. */
function isInMetadata(bytes: Buffer, at: number, wanted: number): boolean {
  let depth = 0;
  let inString = false;
  let opened = 0;
  for (let i = 0; i < at; i++) {
    const byte = bytes[i];
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth++;
      if (depth === wanted) opened = i;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
  }
  return !inString && depth === wanted && bytes.subarray(opened - METADATA.length, opened).equals(METADATA);
}

/** The index after the list that begins at `from`; undefined when the list has no end. */
// Repeats the scan above on purpose: a shared scan with a callback for each bracket takes a fifth longer, and every watch event passes here.
function endOfList(bytes: Uint8Array, from: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--;
      if (depth === 0) return i + 1;
    }
  }
  return undefined;
}

/** What is known of an object that has more bytes or more values than a client accepts. */
export interface TooLarge {
  /** Which limit it exceeds. */
  of: 'bytes' | 'values';
  /** The type of the watch event; undefined in a list, and where it could not be read. */
  type: string | undefined;
  /** Identity and version of the object; undefined where its first megabyte lacks them. */
  metadata: (Pick<ObjectMeta, 'namespace'> & Required<Pick<ObjectMeta, 'name' | 'uid' | 'resourceVersion'>>) | undefined;
}

/** First bytes of an object beyond the limit, kept to read its name: typed kinds are written with their metadata first. */
export const HEAD_BYTES = 1024 * 1024;

/**
 * @param text - JSON of the object, or of its watch event; only the first megabyte is read
 * @param path - to the object
 */
export function tooLargeFrom(text: Uint8Array, of: TooLarge['of'], path: readonly string[] = []): TooLarge {
  const head = text.subarray(0, HEAD_BYTES);
  const field = (name: string): string | undefined => stringWithin(head, [...path, 'metadata', name]);
  const [name, namespace, uid, resourceVersion] = [field('name'), field('namespace'), field('uid'), field('resourceVersion')];
  const type = path.length === 0 ? undefined : stringWithin(head, ['type']);
  if (name === undefined || uid === undefined || resourceVersion === undefined) return { of, type, metadata: undefined };
  return { of, type, metadata: { name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) } };
}

/**
 * The value of one field of a JSON text that may end in the middle: the beginning of an object that is too large to parse still has its name.
 * @param text - UTF-8; the first bytes of a JSON object
 * @param path - names of the fields on the way, as servers write them: without escapes
 * @returns undefined where the field is not completely within `text`, or is not a string
 */
function stringWithin(text: Uint8Array, path: readonly string[]): string | undefined {
  let at = 0;
  for (const name of path) {
    const value = fieldOf(text, at, Buffer.from(`"${name}"`));
    if (value === undefined) return undefined;
    at = value;
  }
  if (text[at] !== QUOTE) return undefined;
  const end = endOfValue(text, at);
  if (end === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text.subarray(at, end)).toString('utf8'));
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Where the value of field `name` begins, of the object that begins at `from`. @param name - with its quotes */
function fieldOf(text: Uint8Array, from: number, name: Buffer): number | undefined {
  if (text[from] !== OPEN_OBJECT) return undefined;
  let at = afterBlanks(text, from + 1);
  while (text[at] === QUOTE) {
    const end = endOfValue(text, at);
    if (end === undefined) return undefined;
    const colon = afterBlanks(text, end);
    if (text[colon] !== COLON) return undefined;
    const value = afterBlanks(text, colon + 1);
    if (name.equals(text.subarray(at, end))) return value < text.length ? value : undefined;
    const after = endOfValue(text, value);
    if (after === undefined) return undefined;
    at = afterBlanks(text, after);
    if (text[at] !== COMMA) return undefined;
    at = afterBlanks(text, at + 1);
  }
  return undefined;
}

function afterBlanks(text: Uint8Array, from: number): number {
  let at = from;
  while (text[at] === 0x20 || text[at] === 0x09 || text[at] === 0x0a || text[at] === 0x0d) at++;
  return at;
}

/** The index after the value that begins at `from`; undefined when the text ends before the value does. */
function endOfValue(text: Uint8Array, from: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at++) {
    const byte = text[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) {
        inString = false;
        if (depth === 0) return at + 1;
      }
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return at; // a number or word ends with the object or list around it
      depth--;
      if (depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
  }
  return undefined;
}
