/**
 * `a * b / c`, rounded down, exact for whole numbers of any size: bytes times a hundred may leave what a float counts exactly.
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
 * Raw points as a share of the highest, 0 to `max`. Without any, all get none; reversed, where few are good, all get `max`.
 * @param highest - of all nodes that are compared
 */
export function ofHighest(raw: number, highest: number, max: number, reversed: boolean): number {
  if (highest === 0) return reversed ? max : 0;
  const share = timesOver(raw, max, highest);
  return reversed ? max - share : share;
}
