/** Reads each object once: one of a cache never changes, so what was read stays true for as long as the object is there. */
export function memoize<T extends object, R>(read: (object: T) => R): (object: T) => R {
  const known = new WeakMap<T, R>();
  return (object) => {
    const value = known.get(object) ?? read(object);
    known.set(object, value);
    return value;
  };
}
