/** Nanoseconds in each unit that Go writes. */
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5, what Go prints
  μs: 1_000n, // U+03BC, what some keyboards give
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** One second, in nanoseconds. */
export const SECOND = 1_000_000_000n;

const LARGEST = (1n << 63n) - 1n;
const SIGN = /^[-+]/;
/** Go would add up a million parts; a useful duration has at most six. */
const MAX_LETTERS = 1000;
const PART = /([0-9]*)(?:\.([0-9]*))?([^0-9.]+)/y;

/**
 * Nanoseconds of a duration as Go writes it: `1h30m`, `1.5s`, `-100ms`, `0`.
 * @returns undefined for anything that Go's time.ParseDuration rejects: no unit, an unknown unit, beyond 64 bits
 */
export function goDuration(text: string): bigint | undefined {
  if (text.length > MAX_LETTERS) return undefined;
  const body = text.replace(SIGN, '');
  if (body === '0') return 0n;
  if (body === '') return undefined;
  const negative = text.startsWith('-');
  let sum = 0n;
  for (let at = 0; at < body.length; at = PART.lastIndex) {
    PART.lastIndex = at;
    const [whole, digits = '', fraction = '', unitName = ''] = PART.exec(body) ?? [];
    const unit = UNITS[unitName];
    if (whole === undefined || unit === undefined || (digits === '' && fraction === '')) return undefined;
    if (digits.length > 100) return undefined; // beyond 64 bits, unless it is all zeros, which is not useful
    sum += BigInt(digits === '' ? '0' : digits) * unit + fractionOf(fraction, unit);
    if (sum > LARGEST + 1n) return undefined;
  }
  if (negative) return -sum;
  return sum > LARGEST ? undefined : sum;
}

/** Go reads as many digits as fit 63 bits, drops the rest, and multiplies as float64; the last nanosecond depends on it. */
function fractionOf(fraction: string, unit: bigint): bigint {
  if (fraction === '') return 0n;
  let digits = fraction.slice(0, 19);
  if (BigInt(digits) > LARGEST) digits = digits.slice(0, 18);
  return BigInt(Math.trunc(Number(digits) * (Number(unit) / 10 ** digits.length)));
}

/** The duration as Go prints it: `1m0s`, `100ms`, `1.5µs`, `0s`. */
export function formatGoDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}µs`;
  if (size < SECOND) return `${sign}${decimal(size, 6)}ms`;
  const minutes = size / (60n * SECOND);
  const seconds = `${decimal(size % (60n * SECOND), 9)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `value / 10 ** places` without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const unit = 10n ** BigInt(places);
  const fraction = (value % unit).toString().padStart(places, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}
