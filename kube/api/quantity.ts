/**
 * A Kubernetes resource quantity, exact to the nano unit that Kubernetes itself keeps: `100m`, `1.5Gi`, `2e3`.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export interface Quantity {
  /** The value in units of 10^-9, rounded away from zero as Kubernetes does. */
  readonly nanos: bigint;
  /** The family of suffixes it was written in, which its canonical form keeps. */
  readonly format: 'decimal' | 'binary' | 'exponent';
}

const SHAPE = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[KMGTPE]i)|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;
const NANO = 9;
const DECIMAL: readonly (readonly [suffix: string, exponent: number])[] = [
  ['E', 18],
  ['P', 15],
  ['T', 12],
  ['G', 9],
  ['M', 6],
  ['k', 3],
  ['', 0],
  ['m', -3],
  ['u', -6],
  ['n', -9],
];
const BINARY: readonly (readonly [suffix: string, bits: bigint])[] = [
  ['Ei', 60n],
  ['Pi', 50n],
  ['Ti', 40n],
  ['Gi', 30n],
  ['Mi', 20n],
  ['Ki', 10n],
];
const EXPONENT_OF = new Map(DECIMAL);
const BITS_OF = new Map(BINARY);
const UNIT = 10n ** BigInt(NANO);
/** Kubernetes caps larger values to 2^63-1 whole units. */
const LARGEST = ((1n << 63n) - 1n) * UNIT;
/** More digits than this cannot matter: they are beyond the cap, or below a nano. Keeps hostile input cheap. */
const MAX_DIGITS = 256;

/** @returns undefined for anything that Kubernetes rejects as a quantity */
export function quantity(text: string): Quantity | undefined {
  const found = SHAPE.exec(text);
  if (found === null) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = found;
  if ((whole === '' && fraction === '') || whole.length > MAX_DIGITS || fraction.length > MAX_DIGITS) return undefined;
  const digits = BigInt(whole + fraction);
  const bits = BITS_OF.get(suffix);
  const power = exponentOf(suffix);
  if (power === undefined && bits === undefined) return undefined;
  const scaled = scale(digits << (bits ?? 0n), (power ?? 0) + NANO - fraction.length);
  const nanos = scaled > LARGEST ? LARGEST : scaled;
  return { nanos: sign === '-' ? -nanos : nanos, format: formatOf(suffix, bits) };
}

/** Negative when `a` is less than `b`, 0 when they are equal (`1Gi` and `1024Mi` are), positive when it is more. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

/** The form Kubernetes prints: no fraction, the largest suffix of its family that leaves a whole number. `1.5Gi` is `1536Mi`. */
export function canonicalQuantity(value: Quantity): string {
  const { nanos } = value;
  if (nanos === 0n) return '0';
  // Binary suffixes cannot express less than 1024, or fractions: Kubernetes falls back to decimal ones.
  if (value.format === 'binary' && nanos % UNIT === 0n && abs(nanos) >= 1024n * UNIT) {
    const units = nanos / UNIT;
    const [suffix, bits] = BINARY.find(([, bits]) => units % (1n << bits) === 0n) ?? ['', 0n];
    return `${units >> bits}${suffix}`;
  }
  const [suffix, exponent] = DECIMAL.find(([, exponent]) => nanos % 10n ** BigInt(exponent + NANO) === 0n) ?? ['n', -NANO];
  const mantissa = nanos / 10n ** BigInt(exponent + NANO);
  if (value.format !== 'exponent') return `${mantissa}${suffix}`;
  return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
}

function exponentOf(suffix: string): number | undefined {
  const named = EXPONENT_OF.get(suffix);
  if (named !== undefined || !/^[eE][+-]?[0-9]/.test(suffix)) return named;
  const exponent = Number(suffix.slice(1));
  // Kubernetes keeps exponents in 32 bits; one beyond 1000 gives 0 or the cap anyway.
  return Math.abs(exponent) < 2 ** 31 ? Math.max(-1000, Math.min(1000, exponent)) : undefined;
}

/** digits * 10 ** exponent, rounded up. */
function scale(digits: bigint, exponent: number): bigint {
  if (exponent >= 0) return digits * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (digits + divisor - 1n) / divisor;
}

function formatOf(suffix: string, bits: bigint | undefined): Quantity['format'] {
  if (bits !== undefined) return 'binary';
  return /^[eE][+-]?[0-9]/.test(suffix) ? 'exponent' : 'decimal';
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

const PERCENT = /^([0-9]{1,9})%$/;
const NUMBER = /^[0-9]{1,15}$/;

/**
 * The number that `maxUnavailable: 10%` or `maxSurge: 3` means; upstream: `intstr.GetScaledValueFromIntOrPercent`.
 * @param value - a whole number that is not negative, or text: a percentage, or such a number (annotations are always text)
 * @param total - the value of 100%
 * @param options.round - how a percentage is rounded to a whole number
 * @returns undefined when it is absent or invalid; may exceed `total`
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
  // The product is a whole number, so only the division rounds.
  const exact = (Number(percent) * total) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
