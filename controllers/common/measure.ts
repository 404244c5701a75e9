/** Lists and objects in each other: a pod template of any server has a dozen. */
export const MAX_DEPTH = 100;
/** Values, lists and objects: some six thousand variables of an environment. */
export const MAX_VALUES = 20_000;

/**
 * Whether a value is deeper, or has more in it, than a template may. It needs no stack, and stops counting at the bound, so it can be asked of anything.
 * @returns undefined for what is within both bounds
 */
export function excessOf(value: unknown, most = { depth: MAX_DEPTH, values: MAX_VALUES }): 'depth' | 'values' | undefined {
  let left = most.values;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most.depth) return 'depth';
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      const values: unknown[] = Array.isArray(item) ? item : Object.values(item);
      left -= values.length;
      if (left < 0) return 'values';
      for (const one of values) if (typeof one === 'object' && one !== null) next.push(one);
    }
    level = next;
  }
  return undefined;
}
