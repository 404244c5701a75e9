/** Parts of objects with more values than anybody walks: to count them again would cost as much as walking them. */
const large = new WeakSet<object>();

export function markLarge<T>(value: T): T {
  if (typeof value === 'object' && value !== null) large.add(value);
  return value;
}

export const isLarge = (value: object): boolean => large.has(value);
