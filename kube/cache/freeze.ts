/**
 * Makes a cached object unchangeable, all the way down: whoever tries to change it gets a TypeError at that very line. For tests and for finding
 * out who does; it costs as much as reading the object once.
 */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const below of Object.values(next)) open.push(below);
  }
  return value;
}
