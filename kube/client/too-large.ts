import type { ObjectMeta } from '../api/object.ts';
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from './json-values.ts';

/** What is known of an object that has more bytes or more values than a client takes. */
export interface TooLarge {
  /** What it has too much of. */
  of: 'bytes' | 'values';
  /** Of a watch event; undefined in a list, and where it could not be read. */
  type: string | undefined;
  /** Which object in which version; undefined where its first megabyte does not say so. */
  metadata: (Pick<ObjectMeta, 'namespace'> & Required<Pick<ObjectMeta, 'name' | 'uid' | 'resourceVersion'>>) | undefined;
}

/** Bytes of an object beyond the limit that are kept to read its name from: typed kinds are written with their metadata first. */
export const HEAD_BYTES = 1024 * 1024;

/**
 * @param text - the object's JSON text, or its watch event's: of it, the first megabyte is looked at
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
 * The value of one field of a JSON text that may end in the middle: of an object that is too large to parse, its beginning still names it.
 * @param text - UTF-8; the first bytes of a JSON object
 * @param path - names of the fields on the way, as servers write them: without escapes
 * @returns undefined where the field is not within `text` as a whole, or is no string
 */
export function stringWithin(text: Uint8Array, path: readonly string[]): string | undefined {
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

/** The place behind the value that begins at `from`; undefined when the text ends before it does. */
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
      if (depth === 0) return at; // a number or word, and the end of what it is in
      depth--;
      if (depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
  }
  return undefined;
}
