import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/** Longest line with a public key, in characters. An RSA key of 16,384 bits has 2,800. */
const MAX_KEY_LINE = 16 * 1024;
const MIN_RSA_BITS = 2048;
/** Largest RSA key, in bits; OpenSSH has the same limit. */
const MAX_RSA_BITS = 16_384;
/** Longest name of a signer, in characters. */
const MAX_SIGNER_NAME = 100;

/** An OpenSSH public key, parsed for verification. */
export interface PublicKey {
  /** The type in the key's encoding: `ssh-ed25519`. */
  type: string;
  /** The key in SSH's encoding: two keys are the same where these bytes are equal. */
  blob: Buffer;
  key: KeyObject;
  /** `SHA256:...`, as `ssh-keygen -l` prints it. */
  fingerprint: string;
  /** For ECDSA: bytes of each of the two numbers of a signature. */
  width?: number;
  /** For FIDO keys (`sk-...`): the application that the authenticator signs for, `ssh:` unless the owner chose another. */
  application?: Buffer;
}

/** A key whose signatures a policy accepts. */
export interface SignatureKey extends PublicKey {
  /** The comment of the key's line, at most 100 characters; without one the fingerprint. Names the signer in `dkc status`, journal and log. */
  name: string;
}

const curves: Readonly<Record<string, { crv: string; width: number }>> = {
  nistp256: { crv: 'P-256', width: 32 },
  nistp384: { crv: 'P-384', width: 48 },
  nistp521: { crv: 'P-521', width: 66 },
};

/** Types that are accepted: Ed25519, ECDSA, RSA, and the first two on FIDO authenticators. No DSA, no certificates. */
export const KEY_TYPES: readonly string[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
];

/**
 * Reads a public key in SSH's encoding (RFC 4253 section 6.6, RFC 5656, RFC 8709, OpenSSH's PROTOCOL.u2f).
 * @throws {@link SignatureError} for another type, an RSA key of less than 2,048 bits, and any other bytes
 */
export function parsePublicKey(blob: Uint8Array): PublicKey {
  const reader = new WireReader(blob);
  const type = reader.name();
  if (!KEY_TYPES.includes(type)) throw new SignatureError(`its key type is not one of ${KEY_TYPES.join(', ')}`);
  const jwk = jwkOf(type, reader);
  const application = type.startsWith('sk-') ? reader.string() : undefined;
  reader.end();
  const key = importKey(jwk);
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS))
    throw new SignatureError(`it is an RSA key of ${bits} bits, and ${MIN_RSA_BITS} to ${MAX_RSA_BITS} are accepted`);
  const width = jwk.kty === 'EC' ? Buffer.from(jwk.x ?? '', 'base64url').length : undefined;
  return {
    type,
    blob: Buffer.from(blob),
    key,
    fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
    ...(width === undefined ? {} : { width }),
    ...(application === undefined ? {} : { application }),
  };
}

function jwkOf(type: string, reader: WireReader): JsonWebKey {
  if (type === 'ssh-rsa') {
    const [e, n] = [reader.positive(), reader.positive()];
    return { kty: 'RSA', e: e.toString('base64url'), n: n.toString('base64url') };
  }
  if (type.includes('ed25519')) return { kty: 'OKP', crv: 'Ed25519', x: reader.string().toString('base64url') };
  const name = reader.name();
  const curve = curves[name];
  const point = reader.string();
  if (!curve || !type.includes(name)) throw new SignatureError('its curve is not that of its type');
  if (point.length !== 1 + 2 * curve.width || point[0] !== 4) throw new SignatureError('its point is not in uncompressed form');
  const [x, y] = [point.subarray(1, 1 + curve.width), point.subarray(1 + curve.width)];
  return { kty: 'EC', crv: curve.crv, x: x.toString('base64url'), y: y.toString('base64url') };
}

function importKey(jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch (cause) {
    throw new SignatureError('its numbers are not a valid key of its type', { cause });
  }
}

/**
 * Reads `TYPE BASE64 [COMMENT]`, a line as in a `.pub` file or in authorized_keys. Options before the type are an error: none of them would be honored,
 * and a key that is meant to be restricted must not be accepted without its restriction.
 * @throws {@link SignatureError}
 */
export function parseKeyLine(line: string): SignatureKey {
  if (line.length > MAX_KEY_LINE) throw new SignatureError(`it is longer than ${MAX_KEY_LINE} characters`);
  const [type = '', base64 = '', ...comment] = line.trim().split(/[ \t]+/);
  if (!KEY_TYPES.includes(type))
    throw new SignatureError(
      `it must begin with one of ${KEY_TYPES.join(', ')}, as a .pub file does; options, certificates and other types are not supported`,
    );
  const key = parsePublicKey(fromBase64(base64));
  if (key.type !== type) throw new SignatureError('its key is of another type than it says');
  const name = comment.join(' ').slice(0, MAX_SIGNER_NAME);
  return { ...key, name: name === '' ? key.fingerprint : name };
}

/** Why a signature or a public key is not accepted. The message follows the name of its subject: `it ends too early`. */
export class SignatureError extends Error {
  override name = 'SignatureError';
}

/** Reads the data types of RFC 4251, section 5. A read past the end throws a {@link SignatureError}; nothing is copied. */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  bytes(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) throw new SignatureError('it ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  byte(): number {
    return this.bytes(1).readUInt8();
  }

  uint32(): number {
    return this.bytes(4).readUInt32BE();
  }

  /** A `string`: its length and that many bytes. */
  string(): Buffer {
    return this.bytes(this.uint32());
  }

  /** A `string` of visible ASCII characters, as names are. */
  name(): string {
    const text = this.string().toString('latin1');
    if (!/^[!-~]*$/.test(text)) throw new SignatureError('a name in it has characters other than visible ASCII');
    return text;
  }

  /** An `mpint` that is positive, without the zero byte before its highest bit. */
  positive(): Buffer {
    const number = this.string();
    const [first = 0, second = 0] = number;
    const isPadded = first === 0 && second >= 0x80;
    if (first >= 0x80 || (first === 0 && !isPadded))
      throw new SignatureError('a number in it is not positive, or not in its shortest form');
    return isPadded ? number.subarray(1) : number;
  }

  /** @throws {@link SignatureError} where bytes are left */
  end(): void {
    if (this.#at !== this.#bytes.length) throw new SignatureError('it has bytes after its end');
  }
}

/** A `string` of RFC 4251 as bytes. */
export function wireString(bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** Strict base64: padded, no other characters, no unused bits set. */
export function fromBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new SignatureError('it is not base64');
  return bytes;
}
