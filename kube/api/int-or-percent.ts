const PERCENT = /^([0-9]{1,9})%$/;
const NUMBER = /^[0-9]{1,15}$/;

/**
 * What `maxUnavailable: 10%` or `maxSurge: 3` comes to.
 * @param value - a whole number that is not negative, or text: a percentage, or such a number (annotations are always text)
 * @param total - what a percentage is of
 * @param options.round - where a percentage falls between two numbers
 * @returns undefined when it is absent or cannot be read; may exceed `total`
 */
export function resolveIntOrPercent(
  value: number | string | undefined,
  total: number,
  { round }: { round: 'up' | 'down' },
): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value !== 'string') return undefined;
  if (NUMBER.test(value)) return Number(value);
  const percent = PERCENT.exec(value)?.[1];
  if (percent === undefined) return undefined;
  // The product is whole, so that one division is all the rounding there is.
  const exact = (Number(percent) * total) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
