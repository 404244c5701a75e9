import { createHash, verify } from 'node:crypto';
import { fromBase64, parsePublicKey, type PublicKey, SignatureError, WireReader, wireString } from './public-key.ts';

/** What `ssh-keygen -Y sign -n` and `-Y verify -n` are given: a signature made for another purpose, such as a git commit, does not count. */
export const NAMESPACE = 'dkc-kubelet-config';
/** Longest `kubelet.sig`, in bytes. A signature of an RSA key of 16,384 bits has 6 kB. */
export const MAX_SIGNATURE = 16 * 1024;

const MAGIC = 'SSHSIG';
const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const END = '-----END SSH SIGNATURE-----';

/** A signature as it came: nothing in it is believed before {@link isSignatureOf}. */
export interface SshSignature {
  /** The key that it says it is of. */
  publicKey: Buffer;
  namespace: string;
  reserved: Buffer;
  hash: 'sha256' | 'sha512';
  /** Algorithm, and what that made of the message. */
  signature: Buffer;
}

/**
 * Reads an armored SSH signature (OpenSSH's PROTOCOL.sshsig, version 1).
 * @throws {@link SignatureError}, whatever the text is
 */
export function parseSshSignature(text: string): SshSignature {
  if (text.length > MAX_SIGNATURE) throw new SignatureError(`it is longer than ${MAX_SIGNATURE} bytes`);
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== ''); // prettier-ignore
  if (lines[0] !== BEGIN || lines.at(-1) !== END) throw new SignatureError(`it must begin with ${BEGIN} and end with ${END}`);
  const reader = new WireReader(fromBase64(lines.slice(1, -1).join('')));
  if (reader.bytes(MAGIC.length).toString('latin1') !== MAGIC) throw new SignatureError('it is not an SSH signature');
  if (reader.uint32() !== 1) throw new SignatureError('it is of another version than 1');
  const publicKey = reader.string();
  const namespace = reader.name();
  const reserved = reader.string();
  const hash = reader.name();
  const signature = reader.string();
  reader.end();
  if (namespace !== NAMESPACE) throw new SignatureError(`it was made for another purpose: sign with ssh-keygen -Y sign -n ${NAMESPACE}`);
  if (hash !== 'sha256' && hash !== 'sha512') throw new SignatureError('its hash algorithm is neither sha256 nor sha512');
  return { publicKey, namespace, reserved, hash, signature };
}

/** The key that a signature names; only its fingerprint may be said of it before it is found among those of a policy. @throws {@link SignatureError} */
export function signatureKeyOf({ publicKey }: SshSignature): PublicKey {
  return parsePublicKey(publicKey);
}

/**
 * Whether `signature` is one of `message` by `key`.
 * @throws {@link SignatureError} for an algorithm that does not belong to the key, or SHA-1
 */
export function isSignatureOf(message: Uint8Array, signature: SshSignature, key: PublicKey): boolean {
  const { namespace, reserved, hash } = signature;
  const digest = createHash(hash).update(message).digest();
  const signed = Buffer.concat([Buffer.from(MAGIC), wireString(namespace), wireString(reserved), wireString(hash), wireString(digest)]);
  const reader = new WireReader(signature.signature);
  const algorithm = reader.name();
  const raw = reader.string();
  if (key.application === undefined) {
    reader.end();
    return isValid(algorithm, signed, raw, key);
  }
  const [flags, counter] = [reader.bytes(1), reader.bytes(4)];
  reader.end();
  if (((flags[0] ?? 0) & USER_PRESENT) === 0) throw new SignatureError('its owner did not touch the authenticator');
  const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
  return isValid(algorithm, Buffer.concat([sha256(key.application), flags, counter, sha256(signed)]), raw, key);
}

/** Flag of an authenticator's signature: somebody touched it. */
const USER_PRESENT = 1;

const rsaHashes: Readonly<Record<string, string>> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' };
const ecdsaHashes: Readonly<Record<number, string>> = { 32: 'sha256', 48: 'sha384', 66: 'sha512' };

function isValid(algorithm: string, data: Buffer, raw: Buffer, { type, key, width }: PublicKey): boolean {
  const rsaHash = type === 'ssh-rsa' ? rsaHashes[algorithm] : undefined;
  if (rsaHash === undefined && (algorithm !== type || type === 'ssh-rsa'))
    throw new SignatureError('its algorithm does not belong to its key, or uses SHA-1');
  try {
    if (rsaHash !== undefined) return verify(rsaHash, data, key, raw);
    if (width === undefined) return raw.length === 64 && verify(null, data, key, raw);
    return verify(ecdsaHashes[width], data, { key, dsaEncoding: 'ieee-p1363' }, fixedWidth(raw, width));
  } catch (cause) {
    if (cause instanceof SignatureError) throw cause;
    throw new SignatureError('it cannot be verified', { cause });
  }
}

/** ECDSA's two numbers, each in as many bytes as its curve has. */
function fixedWidth(raw: Buffer, width: number): Buffer {
  const reader = new WireReader(raw);
  const numbers = [reader.positive(), reader.positive()];
  reader.end();
  if (numbers.some((number) => number.length > width)) throw new SignatureError('a number in it is too large for its curve');
  return Buffer.concat(numbers.map((number) => Buffer.concat([Buffer.alloc(width - number.length), number])));
}
