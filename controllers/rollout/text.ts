/** Max names of nodes in one message. */
const MAX_NAMES = 5;
/** Longest message, in characters. */
export const MAX_MESSAGE = 1_000;

/** `a, b, c and 7 more`. */
export function namesOf(names: readonly string[]): string {
  return namesIn(names, (name) => name);
}

/** The same for unsorted names: shows the alphabetically first ones. */
export function firstNamesOf(names: readonly string[]): string {
  const first: string[] = [];
  for (const name of names) {
    const last = first.at(-1);
    if (first.length === MAX_NAMES && last !== undefined && name >= last) continue;
    first.push(name);
    first.sort();
    first.length = Math.min(first.length, MAX_NAMES);
  }
  return withOmitted(first.join(', '), names.length);
}

/** The same for any list; `nameOf` is called only for the names that are shown. */
export function namesIn<T>(of: readonly T[], nameOf: (one: T) => string): string {
  return withOmitted(of.slice(0, MAX_NAMES).map(nameOf).join(', '), of.length);
}

const withOmitted = (shown: string, count: number): string => (count > MAX_NAMES ? `${shown} and ${count - MAX_NAMES} more` : shown);

/** `1 node`, `2 nodes`. */
export const nodesText = (count: number): string => `${count} ${count === 1 ? 'node' : 'nodes'}`;

/** The first characters. Replaces half a surrogate pair, as the API server would: otherwise the stored status would never equal the written one. */
export const cut = (text: string, length: number): string => text.slice(0, length).toWellFormed();

export const bounded = (text: string, length = MAX_MESSAGE): string => (text.length > length ? `${cut(text, length - 3)}...` : text);
