import { isJsonObject } from '../../../kube/api/json.ts';

/** Where two values differ, as paths with dots between the levels. */
export interface Difference {
  /** What `ours` says, and `theirs` does not. */
  lacks: string[];
  /** What `theirs` says, and `ours` does not. */
  adds: string[];
}

/** Paths that are named of each kind; a definition has some hundred. */
const MAX_PATHS = 200;

/** @param ignored - members of objects that say nothing, at any level */
export function differenceOf(ours: unknown, theirs: unknown, ignored: ReadonlySet<string> = new Set()): Difference {
  const found: Difference = { lacks: [], adds: [] };
  compare(ours, theirs, '', found, ignored);
  return { lacks: found.lacks.slice(0, MAX_PATHS), adds: found.adds.slice(0, MAX_PATHS) };
}

function compare(ours: unknown, theirs: unknown, path: string, found: Difference, ignored: ReadonlySet<string>): void {
  if (!isJsonObject(ours) || !isJsonObject(theirs)) {
    if (textOf(ours) !== textOf(theirs)) found.lacks.push(path);
    return;
  }
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  for (const [key, value] of Object.entries(ours)) {
    if (ignored.has(key)) continue;
    if (Object.hasOwn(theirs, key)) compare(value, theirs[key], at(key), found, ignored);
    else found.lacks.push(at(key));
  }
  for (const key of Object.keys(theirs)) if (!Object.hasOwn(ours, key) && !ignored.has(key)) found.adds.push(at(key));
}

/** The same text for the same value, whatever the order of members; lists of words in any order. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) {
    const items = value.map(textOf);
    return `[${(value.every((item) => typeof item === 'string') ? items.toSorted() : items).join()}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value) ?? '';
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`).join()}}`;
}
