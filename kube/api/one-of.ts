/** A list of at least so many is looked up in a set instead of read from its beginning. */
const MIN_SET = 32;

const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Whether a list holds a value. @param list - taken as one that never changes, as lists in objects of a cache are */
export function isOneOf(list: readonly string[], value: string): boolean {
  if (list.length < MIN_SET) return list.includes(value);
  let set = sets.get(list);
  if (set === undefined) sets.set(list, (set = new Set(list)));
  return set.has(value);
}
