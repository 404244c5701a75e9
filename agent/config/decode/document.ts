import type { Finding, Json, JsonObject } from '../contract.ts';

/** A decoded JSON or YAML text, before it is checked as a kubelet configuration. */
export interface Document {
  value: Json;
  /** Paths of keys that occur more than once in their mapping; the last value counts. */
  duplicates: Duplicates;
  /** Numbers written with a point or an exponent although they are whole: by their object or list, the keys. Only JSON text has them. */
  inexact: WeakMap<object, Set<string>>;
}

/** Keys that occur more than once: the first {@link MAX_DUPLICATES}, since their paths may be as long as the text is deep. */
export class Duplicates {
  readonly paths: string[] = [];
  more = 0;

  add(path: string): void {
    if (this.paths.length < MAX_DUPLICATES) this.paths.push(path);
    else this.more++;
  }
}

/** The text cannot be read at all. Caught by `decode`, which reports the finding. */
export class DocumentError extends Error {
  override name = 'DocumentError';
  readonly finding: Finding;
  constructor(rule: string, message: string, { field = '', line }: { field?: string; line?: number } = {}) {
    super(message);
    this.finding = { field, rule, message, ...(line === undefined ? {} : { line }) };
  }
}

/** Most bytes of a text: the limit of a ConfigMap. The kubelet's own file is never larger. */
export const MAX_BYTES = 1 << 20;
/** Most levels of nesting. A kubelet configuration has five. */
export const MAX_DEPTH = 500;
/** Most values (scalars, lists, mappings) in a text. A kubelet configuration with every field has some 300. */
export const MAX_NODES = 20_000;
/** Most duplicate keys whose paths are kept; the others are counted. */
const MAX_DUPLICATES = 100;

/** Rules of limits that no kubelet configuration reaches. A ConfigMap that breaks one is rejected until it changes. */
export const LIMIT_RULES: ReadonlySet<string> = new Set(['too-large', 'nesting']);

export function tooDeep(): DocumentError {
  return new DocumentError('nesting', `the text is nested more than ${MAX_DEPTH} levels deep`);
}

export function tooManyNodes(): DocumentError {
  return new DocumentError('too-large', `the text holds more than ${MAX_NODES} values; a kubelet configuration has a few hundred`);
}

/** A JSON object under construction: key order kept, and no key reaches a prototype. */
export function newObject(): Record<string, Json> {
  return {};
}

/** Sets a key of any name. */
export function setKey(object: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** The own value of a key, undefined for none. */
export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Paths longer than this, in characters, are not extended further and no longer distinguished. No kubelet field has such a path. */
const MAX_PATH = 500;

export function join(path: string, key: string): string {
  if (path.length > MAX_PATH) return path;
  return path === '' ? key : `${path}.${key}`;
}

/** The path of a list's item. */
export function joinIndex(path: string, index: number): string {
  return path.length > MAX_PATH ? path : `${path}[${index}]`;
}

/** A scalar as text; '' for objects and lists. */
export function scalarText(value: Json | undefined): string {
  return typeof value === 'object' || value === undefined ? '' : String(value);
}

/** A value and its path, as names. */
export interface Placed {
  readonly path: readonly string[];
  readonly value: Json;
}

/** A copy of `object` with the values set at their paths; each object on a path is copied or created once, for any number of values. */
export function withValues(object: JsonObject, values: Iterable<Placed>): JsonObject {
  const copies = new WeakSet<JsonObject>();
  const copyOf = (old: JsonObject): Record<string, Json> => {
    if (copies.has(old)) return old;
    const copy = { ...old }; // unlike an assignment, a spread copies a key `__proto__` as a plain key
    copies.add(copy);
    return copy;
  };
  const root = copyOf(object);
  for (const { path, value } of values) {
    let at = root;
    for (const step of path.slice(0, -1)) {
      const old = own(at, step);
      const inner = copyOf(isObject(old) ? old : {});
      setKey(at, step, inner);
      at = inner;
    }
    const last = path.at(-1);
    if (last !== undefined) setKey(at, last, value);
  }
  return root;
}

/** Equal JSON; the order of keys does not matter, and 1 is 1 as number and as bigint. */
export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint') return typeof b === 'number' && BigInt(Math.trunc(b)) === a;
  if (typeof b === 'bigint') return sameJson(b, a);
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, index) => sameJson(item, b[index] ?? null));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] as Json, b[key] as Json));
}
