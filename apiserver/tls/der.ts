/*
 * As much of ASN.1 DER (ITU-T X.690) as one certificate needs.
 */
const encoder = new TextEncoder();

/** Tag, length and content. */
export function der(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(content);
  return Buffer.concat([Uint8Array.of(tag), length(body.length), body]);
}

function length(bytes: number): Uint8Array {
  if (bytes < 0x80) return Uint8Array.of(bytes);
  const octets: number[] = [];
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Uint8Array.of(0x80 | octets.length, ...octets);
}

export const sequence = (...content: readonly Uint8Array[]): Uint8Array => der(0x30, ...content);
export const set = (...content: readonly Uint8Array[]): Uint8Array => der(0x31, ...content);
export const octets = (content: Uint8Array): Uint8Array => der(0x04, content);
export const bits = (content: Uint8Array): Uint8Array => der(0x03, Uint8Array.of(0), content);
/** The first `count` bits of one byte, as named bit lists have it: unused ones are counted off. */
export const namedBits = (byte: number, unused: number): Uint8Array => der(0x03, Uint8Array.of(unused, byte));
export const utf8 = (text: string): Uint8Array => der(0x0c, encoder.encode(text));
export const yes = (): Uint8Array => der(0x01, Uint8Array.of(0xff));

/** A positive integer, from its big-endian bytes. */
export function integer(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  const minimal = first === -1 ? Uint8Array.of(0) : bytes.slice(first);
  return der(0x02, (minimal[0] ?? 0) >= 0x80 ? Uint8Array.of(0) : new Uint8Array(), minimal);
}

/** An object identifier in its dotted form. */
export function oid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Uint8Array.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value % 128];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) digits.unshift((left % 128) | 0x80);
  return digits;
}

/** UTCTime until 2049, GeneralizedTime from then on, as RFC 5280 asks. */
export function time(ms: number): Uint8Array {
  const text = new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14);
  return Number(text.slice(0, 4)) < 2050 ? der(0x17, encoder.encode(`${text.slice(2)}Z`)) : der(0x18, encoder.encode(`${text}Z`));
}

/** `[number]` around content, constructed. */
export const explicit = (number: number, ...content: readonly Uint8Array[]): Uint8Array => der(0xa0 | number, ...content);
/** `[number]` in place of a primitive's own tag. */
export const implicit = (number: number, content: Uint8Array): Uint8Array => der(0x80 | number, content);
