import { createPrivateKey, createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A server's key and the certificate that clients trust, both PEM. */
export interface KeyAndCertificate {
  keyPem: string;
  certificatePem: string;
}

const DAY = 24 * 60 * 60 * 1000;
const ECDSA_SHA256 = '1.2.840.10045.4.3.2';

/**
 * A self-signed ECDSA P-256 certificate for 127.0.0.1, ::1 and localhost, its own CA, valid for a year.
 * Valid since a day ago, so that a client whose clock is slightly behind accepts it.
 */
export function selfSigned(now: number): KeyAndCertificate {
  const pair = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const serial = randomBytes(16);
  serial[0] = (serial[0] ?? 0) & 0x7f;
  const name = sequence(set(sequence(oid('2.5.4.3'), utf8('dkc-apiserver'))));
  const algorithm = sequence(oid(ECDSA_SHA256));
  const toSign = sequence(
    explicit(0, integer(Uint8Array.of(2))),
    integer(serial),
    algorithm,
    name,
    sequence(time(now - DAY), time(now + 365 * DAY)),
    name,
    pair.publicKey,
    explicit(3, extensions(pair.publicKey)),
  );
  const signature = sign('sha256', toSign, createPrivateKey(pair.privateKey));
  return { keyPem: pair.privateKey, certificatePem: pem('CERTIFICATE', sequence(toSign, algorithm, bits(signature))) };
}

function extensions(publicKey: Uint8Array): Uint8Array {
  const keyId = createHash('sha1').update(publicKey).digest();
  const addresses = [Uint8Array.of(127, 0, 0, 1), Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)];
  const names = sequence(implicit(2, new TextEncoder().encode('localhost')), ...addresses.map((address) => implicit(7, address)));
  return sequence(
    extension('2.5.29.19', true, sequence(yes())), // basic constraints: a CA
    extension('2.5.29.15', true, namedBits(0b10000100, 2)), // key usage: digital signature, certificate signing
    extension('2.5.29.37', false, sequence(oid('1.3.6.1.5.5.7.3.1'))), // extended key usage: server
    extension('2.5.29.14', false, octets(keyId)), // subject key identifier
    extension('2.5.29.17', false, names), // subject alternative names
  );
}

function extension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(oid(id), ...(critical ? [yes()] : []), der(0x04, value));
}

function pem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/*
 * As much of ASN.1 DER (ITU-T X.690) as one certificate needs.
 */
const encoder = new TextEncoder();

/** Tag, length and content. */
function der(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(content);
  return Buffer.concat([Uint8Array.of(tag), length(body.length), body]);
}

function length(bytes: number): Uint8Array {
  if (bytes < 0x80) return Uint8Array.of(bytes);
  const octets: number[] = [];
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Uint8Array.of(0x80 | octets.length, ...octets);
}

const sequence = (...content: readonly Uint8Array[]): Uint8Array => der(0x30, ...content);
const set = (...content: readonly Uint8Array[]): Uint8Array => der(0x31, ...content);
const octets = (content: Uint8Array): Uint8Array => der(0x04, content);
const bits = (content: Uint8Array): Uint8Array => der(0x03, Uint8Array.of(0), content);
/** A named bit list of one byte; DER stores the number of unused bits before it. */
const namedBits = (byte: number, unused: number): Uint8Array => der(0x03, Uint8Array.of(unused, byte));
const utf8 = (text: string): Uint8Array => der(0x0c, encoder.encode(text));
const yes = (): Uint8Array => der(0x01, Uint8Array.of(0xff));

/** A positive integer, from its big-endian bytes. */
function integer(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  const minimal = first === -1 ? Uint8Array.of(0) : bytes.slice(first);
  return der(0x02, (minimal[0] ?? 0) >= 0x80 ? Uint8Array.of(0) : new Uint8Array(), minimal);
}

/** An object identifier in its dotted form. */
function oid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Uint8Array.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value % 128];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) digits.unshift((left % 128) | 0x80);
  return digits;
}

/** UTCTime until 2049, GeneralizedTime after that, as RFC 5280 requires. */
function time(ms: number): Uint8Array {
  const text = new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14);
  return Number(text.slice(0, 4)) < 2050 ? der(0x17, encoder.encode(`${text.slice(2)}Z`)) : der(0x18, encoder.encode(`${text}Z`));
}

/** `[number]` around content, constructed. */
const explicit = (number: number, ...content: readonly Uint8Array[]): Uint8Array => der(0xa0 | number, ...content);
/** `[number]` instead of the tag of a primitive. */
const implicit = (number: number, content: Uint8Array): Uint8Array => der(0x80 | number, content);
