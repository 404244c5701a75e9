/**
 * Makes a cached object unchangeable, all the way down: whoever tries to change it gets a TypeError at that very line. For tests and for finding
 * out who does; it costs as much as reading the object once.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const below of Object.values(value)) deepFreeze(below);
  return value;
}
