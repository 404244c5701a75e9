/**
 * `a * b / c`, rounded down, exact for integers of any size: bytes times 100 may exceed the integers that a float represents exactly.
 * @param c - more than 0
 */
export function timesOver(a: number, b: number, c: number): number {
  const product = a * b;
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / c);
  return Number((BigInt(a) * BigInt(b)) / BigInt(c));
}

/** Rounds halves away from zero, as schedulers round points. */
export function roundHalfUp(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}

/**
 * Raw points normalized by the highest ones, 0 to `max`. If these are 0, all nodes get 0 or, reversed (fewer is better), `max`.
 * @param highest - of all nodes that are compared
 */
export function ofHighest(raw: number, highest: number, max: number, reversed: boolean): number {
  if (highest === 0) return reversed ? max : 0;
  const share = timesOver(raw, max, highest);
  return reversed ? max - share : share;
}
