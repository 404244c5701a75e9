import type { Finding, Json, JsonObject } from './contract.ts';

/** What a text holds, before anyone asks whether it is a kubelet configuration. */
export interface Document {
  value: Json;
  /** Paths of keys that stand more than once in their mapping; the last one won. */
  duplicates: string[];
  /** Numbers written with a point or an exponent although they are whole: by their object or list, the keys. Only JSON text has them. */
  inexact: WeakMap<object, Set<string>>;
}

/** The text cannot be read at all. Caught by `decode`, which reports the finding. */
export class DocumentError extends Error {
  override name = 'DocumentError';
  readonly finding: Finding;
  constructor(rule: string, message: string, field = '') {
    super(message);
    this.finding = { field, rule, message };
  }
}

/** Levels of nesting that are followed. A kubelet configuration has five. */
export const DEEPEST = 500;

export function tooDeep(): DocumentError {
  return new DocumentError('nesting', `the text is nested more than ${DEEPEST} levels deep`);
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

export function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** A scalar as text; '' for objects and lists. */
export function words(value: Json | undefined): string {
  return typeof value === 'object' || value === undefined ? '' : String(value);
}
