import type { Json } from '../contract.ts';

/** .inf and .nan: valid in YAML but not in JSON, so the kubelet's decoder rejects them. */
export const NOT_JSON: unique symbol = Symbol('a number that JSON cannot hold');

const KEYWORDS = new Map<string, Json | typeof NOT_JSON>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['.nan', '.NaN', '.NAN', '.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF', '-.inf', '-.Inf', '-.INF'].map(
    (word) => [word, NOT_JSON] as const,
  ),
]);

const DECIMAL = /^[+-]?(?:0|[1-9][0-9]*)$/;
const BASED = /^([+-]?)(?:0([xX])([0-9a-fA-F]+)|0([bB])([01]+)|0[oO]?([0-7]+))$/;
const FLOAT = /^[+-]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][+-]?[0-9]+)?$/;
const DOT_FLOAT = /^\.[0-9]+(?:[eE][+-]?[0-9]+)?$/;
const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * The value of an unquoted YAML scalar for the kubelet: YAML 1.1 words and numbers as goyaml reads them.
 * 0644 is 420, `on` is true, 1:30 and 2026-01-01 are strings, 1_000 is 1000.
 */
export function plainScalar(text: string): Json | typeof NOT_JSON {
  const first = text.charCodeAt(0);
  const digit = first >= 0x30 && first <= 0x39;
  if (!digit && first !== 0x2b && first !== 0x2d && first !== 0x2e) return keywordOr(text);
  if (first === 0x2e) {
    // After a leading dot an underscore is allowed between two digits only; elsewhere it is allowed anywhere.
    const digits = /(?<![0-9])_|_(?![0-9])/.test(text) ? text : text.replaceAll('_', '');
    return DOT_FLOAT.test(digits) ? (float(digits) ?? text) : keywordOr(text);
  }
  if (!digit && KEYWORDS.has(text)) return keywordOr(text);
  const number = text.includes('_') ? text.replaceAll('_', '') : text;
  return integer(number) ?? (FLOAT.test(number) ? float(number) : undefined) ?? text;
}

function keywordOr(text: string): Json | typeof NOT_JSON {
  if (text.length > 5) return text;
  const word = KEYWORDS.get(text);
  return word === undefined ? text : word;
}

/** undefined for a text that is not an integer, or one beyond 64 bits, which is read as a float. */
function integer(text: string): number | bigint | undefined {
  if (DECIMAL.test(text)) {
    if (text.length < 16) return Number(text) + 0; // + 0 turns -0 into 0
    if (text.length > 21) return undefined; // beyond 64 bits for any digits
    const exact = BigInt(text.startsWith('+') ? text.slice(1) : text);
    return inRange(exact) && !(text.startsWith('+') && exact > 2n ** 63n - 1n) ? tidy(exact) : undefined;
  }
  const based = BASED.exec(text);
  if (based === null || text.length > 80) return undefined;
  const [, sign, , hex, , binary, octal] = based;
  const exact = BigInt(hex !== undefined ? `0x${hex}` : binary !== undefined ? `0b${binary}` : `0o${octal}`);
  const signed = sign === '-' ? -exact : exact;
  return inRange(signed) ? tidy(signed) : undefined;
}

function inRange(value: bigint): boolean {
  return value >= MIN_INT64 && value <= MAX_UINT64;
}

/** undefined on overflow: goyaml keeps the text as a string. */
function float(text: string): number | bigint | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  // Unlike for an integer, the sign of a zero is kept, since an unsigned field rejects it.
  if (Object.is(value, -0)) return value;
  // Go prints a whole float without a point, so it reads as an integer afterwards.
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return tidy(BigInt(String(value)));
  return value;
}

/** A number where it is exact, else a bigint. */
export function tidy(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
