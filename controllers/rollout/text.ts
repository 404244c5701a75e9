/** Names of nodes in one message. */
const MAX_NAMES = 5;
/** Longest message, in characters. */
export const MAX_MESSAGE = 1_000;

/** `a, b, c and 7 more`. */
export function namesOf(names: readonly string[]): string {
  return namesIn(names, (name) => name);
}

/** The same of any list, of which the names that are shown alone are asked for. */
export function namesIn<T>(of: readonly T[], nameOf: (one: T) => string): string {
  const shown = of.slice(0, MAX_NAMES).map(nameOf).join(', ');
  return of.length > MAX_NAMES ? `${shown} and ${of.length - MAX_NAMES} more` : shown;
}

/** `1 node`, `2 nodes`. */
export const nodesText = (count: number): string => `${count} ${count === 1 ? 'node' : 'nodes'}`;

/** The first characters. One that takes two places is not cut: of its half the API server makes something else, and the status would never be as it was written. */
export const cut = (text: string, length: number): string => text.slice(0, length).toWellFormed();

export const bounded = (text: string, length = MAX_MESSAGE): string => (text.length > length ? `${cut(text, length - 3)}...` : text);
