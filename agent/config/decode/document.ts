import type { Finding, Json, JsonObject } from '../contract.ts';

/** What a text holds, before anyone asks whether it is a kubelet configuration. */
export interface Document {
  value: Json;
  /** Paths of keys that stand more than once in their mapping; the last one won. */
  duplicates: Duplicates;
  /** Numbers written with a point or an exponent although they are whole: by their object or list, the keys. Only JSON text has them. */
  inexact: WeakMap<object, Set<string>>;
}

/** Keys that stand more than once: the first {@link MAX_DUPLICATES}, since their paths may be as long as the text is deep. */
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

/** What a ConfigMap can hold at most; the kubelet's own file is never larger. */
export const MAX_BYTES = 1 << 20;
/** Levels of nesting that are followed. A kubelet configuration has five. */
export const MAX_DEPTH = 500;
/** Values (scalars, lists, mappings) that a text may hold. A kubelet configuration with every field has some 300. */
export const MAX_NODES = 20_000;
/** Keys that stand twice whose paths are kept; the others are counted. */
const MAX_DUPLICATES = 100;

/** Rules of the limits that no kubelet configuration reaches. What breaks one stays refused until the ConfigMap changes. */
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

/** Where a path stops growing: below that only its beginning is told apart. No field of any kubelet lies so deep. */
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
export function words(value: Json | undefined): string {
  return typeof value === 'object' || value === undefined ? '' : String(value);
}

/** A value and where it goes, a path of names. */
export interface Placed {
  readonly path: readonly string[];
  readonly value: Json;
}

/** A copy of `object` with values at their places; objects on the way are copied or made, each once however many values go into it. */
export function withValues(object: JsonObject, values: Iterable<Placed>): JsonObject {
  const copies = new WeakSet<JsonObject>();
  const copyOf = (old: JsonObject): Record<string, Json> => {
    if (copies.has(old)) return old;
    const copy = { ...old }; // unlike an assignment, this takes a key __proto__ over as it is
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
