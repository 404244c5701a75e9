import { createHash, verify } from 'node:crypto';
import { ActionError } from '../../../base/errors.ts';
import type { Finding } from '../contract.ts';
import {
  fromBase64,
  parseKeyLine,
  parsePublicKey,
  type PublicKey,
  SignatureError,
  type SignatureKey,
  WireReader,
  wireString,
} from './public-key.ts';

/** Data key of a ConfigMap that holds the signature of all others. */
export const SIGNATURE_KEY = 'kubelet.sig';

/** The content that a signature covers. */
export interface SignedPayload {
  /** All data keys; the signature does not cover {@link SIGNATURE_KEY}. */
  files: ReadonlyMap<string, Uint8Array>;
  kubeletConfigKey: string;
  /** Value of the annotation dkc.dev/allow. It allows dangerous fields, so the signature must cover it. */
  allow: string | undefined;
}

/**
 * The text that is signed; every line ends with a newline.
 *
 *     dkc-kubelet-config v1
 *     kubeletConfigKey KEY
 *     allow FIELD,FIELD             only with an annotation dkc.dev/allow that names something: no blanks, sorted, each name once
 *     HEX  KEY                      for every data key but kubelet.sig: as sha256sum prints it, the lines sorted by their bytes
 *
 * So `sha256sum KEY.. | LC_ALL=C sort` prints all lines of files. The text is unambiguous: keys and field names have no spaces.
 * @throws {@link SignatureError} for a name in the annotation that is not visible ASCII
 */
export function signedMessage({ files, kubeletConfigKey, allow }: SignedPayload): string {
  const names = allowedNames(allow);
  const keys = [...files].filter(([key]) => key !== SIGNATURE_KEY);
  const lines = keys.map(([key, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${key}`);
  const sorted = lines.toSorted((a, b) => (a < b ? -1 : 1));
  const allowed = names.length === 0 ? [] : [`allow ${names.join(',')}`];
  return [`dkc-kubelet-config v1`, `kubeletConfigKey ${kubeletConfigKey}`, ...allowed, ...sorted].map((line) => `${line}\n`).join('');
}

/** The names in an annotation dkc.dev/allow, as they are signed. */
export function allowedNames(allow: string | undefined): string[] {
  const names = (allow ?? '').split(',').map((name) => name.trim());
  const sorted = [...new Set(names.filter((name) => name !== ''))].toSorted((a, b) => (a < b ? -1 : 1));
  if (!sorted.every((name) => /^[!-~]+$/.test(name)))
    throw new SignatureError('the annotation dkc.dev/allow has characters other than visible ASCII, which cannot be signed');
  return sorted;
}

/** The signer, or the finding why there is no valid signature by a key of this node. */
export type SignatureResult = { ok: true; signer: Pick<SignatureKey, 'name' | 'fingerprint'> } | { ok: false; finding: Finding };

/** @param configMap - `NAMESPACE/NAME` for messages; absent where the payload comes from files */
export type SignatureCheck = (payload: SignedPayload, configMap?: string) => SignatureResult;

/**
 * Reads the signatureKeys of a policy.
 * @throws {ActionError} that names the first invalid line
 */
export function parseSignatureKeys(lines: readonly string[]): SignatureKey[] {
  return lines.map((line, index) => {
    try {
      return parseKeyLine(line);
    } catch (cause) {
      if (!(cause instanceof SignatureError)) throw cause;
      throw new ActionError('read the field policy', `signatureKeys[${index}]`, { hint: cause.message, cause });
    }
  });
}

/** The check of one policy: whether a payload has a signature by one of `keys`. The returned function never throws. */
export function signatureCheck(keys: readonly SignatureKey[]): SignatureCheck {
  return (payload, configMap) => {
    const found = verifyPayload(payload, keys);
    return found.ok ? found : { ok: false, finding: { field: '', rule: 'signature', message: messageOf(found, configMap) } };
  };
}

/** `reason` continues a sentence after `kubelet.sig`; `remedy` is the fix. */
export type Verified = Extract<SignatureResult, { ok: true }> | { ok: false; reason: string; remedy: string };

const sign = 'sign it with dkc sign, and put the signature into the ConfigMap as kubelet.sig';
const signAgain =
  'a signature covers all data keys, kubeletConfigKey and the annotation dkc.dev/allow: sign the ConfigMap again with dkc sign';

/** Like {@link signatureCheck}, without the sentence around it. */
export function verifyPayload(payload: SignedPayload, keys: readonly SignatureKey[]): Verified {
  const bytes = payload.files.get(SIGNATURE_KEY);
  if (bytes === undefined) return { ok: false, reason: 'is missing', remedy: sign };
  try {
    if (bytes.length > MAX_SIGNATURE) throw new SignatureError(`it is longer than ${MAX_SIGNATURE} bytes`);
    const signature = parseSshSignature(Buffer.from(bytes).toString('latin1'));
    const named = signatureKeyOf(signature);
    const key = keys.find(({ blob }) => blob.equals(named.blob));
    if (!key) {
      return {
        ok: false,
        reason: `was made with key ${named.fingerprint}, which is not one of the signatureKeys`,
        remedy: 'sign it with one of these with dkc sign, or add the public key to the field policy of the node',
      };
    }
    if (isSignatureOf(Buffer.from(signedMessage(payload)), signature, key))
      return { ok: true, signer: { name: key.name, fingerprint: key.fingerprint } };
    return { ok: false, reason: `was made by ${key.name}, but not for the content of this ConfigMap`, remedy: signAgain };
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    return { ok: false, reason: `cannot be used: ${error.message}`, remedy: signAgain };
  }
}

function messageOf({ reason, remedy }: Extract<Verified, { ok: false }>, configMap: string | undefined): string {
  const where = configMap === undefined ? '' : ` of ConfigMap ${configMap}`;
  return `${SIGNATURE_KEY}${where} ${reason}, and the field policy of this node accepts signed configurations only (signatureKeys): ${remedy}`;
}

/** Namespace for `ssh-keygen -Y sign -n` and `-Y verify -n`: a signature for another purpose, such as a git commit, is not valid. */
export const NAMESPACE = 'dkc-kubelet-config';
/** Longest `kubelet.sig`, in bytes. A signature of an RSA key of 16,384 bits has 6 kB. */
export const MAX_SIGNATURE = 16 * 1024;

const MAGIC = 'SSHSIG';
const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const END = '-----END SSH SIGNATURE-----';

/** A parsed signature, not verified: see {@link isSignatureOf}. */
export interface SshSignature {
  /** The public key that the signature names. */
  publicKey: Buffer;
  namespace: string;
  reserved: Buffer;
  hash: 'sha256' | 'sha512';
  /** The algorithm and the raw signature. */
  signature: Buffer;
}

/**
 * Reads an armored SSH signature (OpenSSH's PROTOCOL.sshsig, version 1).
 * @throws {@link SignatureError} for any invalid text
 */
export function parseSshSignature(text: string): SshSignature {
  if (text.length > MAX_SIGNATURE) throw new SignatureError(`it is longer than ${MAX_SIGNATURE} bytes`);
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== ''); // prettier-ignore
  if (lines[0] !== BEGIN || lines.at(-1) !== END) throw new SignatureError(`it must begin with ${BEGIN} and end with ${END}`);
  const reader = new WireReader(fromBase64(lines.slice(1, -1).join('')));
  if (reader.bytes(MAGIC.length).toString('latin1') !== MAGIC) throw new SignatureError('it is not an SSH signature');
  if (reader.uint32() !== 1) throw new SignatureError('its version is not 1');
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

/** The key that a signature names. Until it is found in a policy, messages must show only its fingerprint. @throws {@link SignatureError} */
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

/** Flag of an authenticator's signature: a user touched the authenticator. */
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

/** The two numbers of an ECDSA signature, each padded to the bytes of its curve. */
function fixedWidth(raw: Buffer, width: number): Buffer {
  const reader = new WireReader(raw);
  const numbers = [reader.positive(), reader.positive()];
  reader.end();
  if (numbers.some((number) => number.length > width)) throw new SignatureError('a number in it is too large for its curve');
  return Buffer.concat(numbers.map((number) => Buffer.concat([Buffer.alloc(width - number.length), number])));
}
