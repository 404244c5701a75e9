/** Every CPU that a kernel can have, 8,192, listed one by one takes 40,000 letters. */
const MAX_LETTERS = 40_960;

/**
 * CPU numbers of a list such as `0-3,8`, ascending, or undefined when it is none.
 * @param strict - kubelets from 1.26 on: a range may not run backwards. Older ones take that, and what has two dashes, as no CPU at all
 */
export function parseCpuset(
  text: string,
  strict: boolean,
): { readonly parts: readonly (readonly [from: number, to: number])[] } | undefined {
  const parts: (readonly [number, number])[] = [];
  if (text === '') return { parts };
  if (text.length > MAX_LETTERS) return undefined;
  for (const part of text.split(',')) {
    const ends = part.split('-');
    if (ends.length > 2) {
      if (strict) return undefined;
      continue;
    }
    const [from, to] = [whole(ends[0] ?? ''), whole(ends[1] ?? ends[0] ?? '')];
    if (from === undefined || to === undefined || (strict && from > to)) return undefined;
    if (from <= to) parts.push([from, to]);
  }
  return { parts };
}

/** A whole number as Go's Atoi takes it, up to 64 bits. */
function whole(text: string): number | undefined {
  if (!/^[+-]?[0-9]{1,300}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value >= -(2n ** 63n) && value < 2n ** 63n ? Number(value) : undefined;
}
