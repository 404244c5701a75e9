import { goJson, isJsonObject } from '../../../kube/api/json.ts';

/**
 * FNV-1a of the content, in letters that spell no words. For DaemonSets, whose upstream controller hashes a dump of Go structures: theirs differ, and
 * need not be the same, for a revision is found by what it holds. Same content, same hash. Pure.
 */
export function contentHash(data: unknown, collisionCount?: number): string {
  let hash = BASIS;
  const bytes = Buffer.from(canonical(data));
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
  if (collisionCount !== undefined) {
    const count = Buffer.alloc(8);
    count.writeUInt32LE(collisionCount >>> 0);
    for (const byte of count) hash = Math.imul(hash ^ byte, PRIME);
  }
  return inLetters(hash);
}

/**
 * FNV-1 (it multiplies first) of the data as upstream's StatefulSet controller writes it, then of the count in decimal, in the same letters. For
 * StatefulSets, whose pods carry the whole name of their revision: by the same name either controller finds the other's pods up to date. Pure.
 * @param data - as the server gave it: a null that is left out is another hash
 * @param collisionCount - @default 0, which is hashed too
 */
export function wordHash(data: unknown, collisionCount = 0): string {
  let hash = BASIS;
  const bytes = Buffer.from(goJson(data) + String(collisionCount));
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash, PRIME) ^ (bytes[at] ?? 0);
  return inLetters(hash);
}

/** JSON with the fields of every object in one order, and without those that are null. Pure. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    let text = '';
    for (const item of value) text += `${text === '' ? '' : ','}${canonical(item)}`;
    return `[${text}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null';
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const field = value[key];
    if (field !== null && field !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(field)}`;
  }
  return `{${text}}`;
}

const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

function inLetters(hash: number): string {
  return String(hash >>> 0).replace(/\d/g, (digit) => LETTERS.charAt(digit.charCodeAt(0) % LETTERS.length));
}
