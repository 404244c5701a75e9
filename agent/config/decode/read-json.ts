import {
  MAX_DEPTH,
  type Document,
  DocumentError,
  Duplicates,
  join,
  joinIndex,
  MAX_NODES,
  newObject,
  setKey,
  tooDeep,
  tooManyNodes,
} from './document.ts';
import type { Json } from '../contract.ts';
import { placeAt } from '../yaml/problem.ts';
import { tidy } from '../yaml/scalar.ts';

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /true|false|null/y;

/**
 * Reads JSON as Go does: integers exact, duplicate keys noted (the last wins), the rest strict.
 * JSON.parse would lose both the duplicates and integers beyond 2^53.
 * @throws {DocumentError} with the place, never the text
 */
export function readJson(text: string): Document {
  const duplicates = new Duplicates();
  const inexact = new WeakMap<object, Set<string>>();
  let at = 0;
  let nodes = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const fail = (): DocumentError => {
    match(SPACE);
    const { line, column } = placeAt(text, at);
    const what = at >= text.length ? 'the text ends too early' : 'unexpected character';
    return new DocumentError('syntax', `the text begins like JSON but is not JSON: line ${line}, column ${column}: ${what}`, { line });
  };
  const skip = (): void => {
    if (text.charCodeAt(at) <= 0x20) match(SPACE);
  };
  const expect = (token: string): void => {
    skip();
    if (text[at] !== token) throw fail();
    at++;
  };
  const next = (): string => {
    skip();
    return text[at] ?? '';
  };

  const string = (): string => {
    skip();
    const found = match(STRING);
    if (found === undefined) throw fail();
    const parsed = found.includes('\\') ? (JSON.parse(found) as string) : found.slice(1, -1);
    return parsed.toWellFormed(); // Go replaces half a surrogate pair
  };
  const number = (holder: object, key: string): Json => {
    const found = match(NUMBER);
    if (found === undefined) throw fail();
    if (found === '-0') return -0; // kept, since an unsigned field rejects it
    if (!/[.eE]/.test(found)) return found.length > 400 ? Number(found) : tidy(BigInt(found));
    const value = Number(found);
    if (!Number.isFinite(value)) throw new DocumentError('number', 'the text holds a number too large for JSON');
    const keys = inexact.get(holder) ?? new Set();
    inexact.set(holder, keys.add(key));
    return value;
  };
  const value = (holder: object, key: string, path: string, depth: number): Json => {
    if (depth > MAX_DEPTH) throw tooDeep();
    if (++nodes > MAX_NODES) throw tooManyNodes();
    const token = next();
    if (token === '{') return object(path, depth);
    if (token === '[') return list(path, depth);
    if (token === '"') return string();
    const word = match(WORD);
    return word === undefined ? number(holder, key) : (JSON.parse(word) as Json);
  };
  const object = (path: string, depth: number): Json => {
    const made = newObject();
    expect('{');
    if (next() === '}') return (at++, made);
    for (;;) {
      const key = string();
      expect(':');
      const inner = join(path, key);
      if (Object.hasOwn(made, key)) duplicates.add(inner);
      setKey(made, key, value(made, key, inner, depth + 1));
      if (next() === '}') return (at++, made);
      expect(',');
    }
  };
  const list = (path: string, depth: number): Json => {
    const made: Json[] = [];
    expect('[');
    if (next() === ']') return (at++, made);
    for (;;) {
      made.push(value(made, String(made.length), joinIndex(path, made.length), depth + 1));
      if (next() === ']') return (at++, made);
      expect(',');
    }
  };

  const root = value({}, '', '', 0);
  match(SPACE);
  if (at !== text.length) throw fail();
  return { value: root, duplicates, inexact };
}
