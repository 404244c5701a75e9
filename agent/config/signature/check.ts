import { createHash } from 'node:crypto';
import { ActionError } from '../../../base/errors.ts';
import type { Finding } from '../contract.ts';
import { parseKeyLine, SignatureError, type SignatureKey } from './public-key.ts';
import { isSignatureOf, MAX_SIGNATURE, parseSshSignature, signatureKeyOf } from './sshsig.ts';

/** Data key of a ConfigMap that holds the signature of all others. */
export const SIGNATURE_KEY = 'kubelet.sig';

/** What a signature is of. */
export interface SignedPayload {
  /** All data keys; {@link SIGNATURE_KEY} is left out of what is signed. */
  files: ReadonlyMap<string, Uint8Array>;
  kubeletConfigKey: string;
  /** Value of the annotation dkc.dev/allow; it lets dangerous fields through, so that it counts only where it is signed. */
  allow: string | undefined;
}

/**
 * The text that is signed: one line each, every line ended by a newline.
 *
 *     dkc-kubelet-config v1
 *     kubeletConfigKey KEY
 *     allow FIELD,FIELD             only with an annotation dkc.dev/allow that names something: no blanks, sorted, each name once
 *     HEX  KEY                      for every data key but kubelet.sig: as sha256sum prints it, the lines sorted by their bytes
 *
 * So `sha256sum KEY.. | LC_ALL=C sort` makes all lines of files. Nothing of it can be read in two ways: keys and field names hold no blanks.
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

/** What an annotation dkc.dev/allow names, as it is signed. */
export function allowedNames(allow: string | undefined): string[] {
  const names = (allow ?? '').split(',').map((name) => name.trim());
  const sorted = [...new Set(names.filter((name) => name !== ''))].toSorted((a, b) => (a < b ? -1 : 1));
  if (!sorted.every((name) => /^[!-~]+$/.test(name)))
    throw new SignatureError('the annotation dkc.dev/allow has characters other than visible ASCII, which cannot be signed');
  return sorted;
}

/** Who signed; or the finding that says why nobody did whom this node knows. */
export type SignatureResult = { ok: true; signer: Pick<SignatureKey, 'name' | 'fingerprint'> } | { ok: false; finding: Finding };

/** @param configMap - `NAMESPACE/NAME` for messages; absent where the payload comes from files */
export type SignatureCheck = (payload: SignedPayload, configMap?: string) => SignatureResult;

/**
 * Reads the signatureKeys of a policy.
 * @throws {ActionError} that names the first line that is no key
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

/** The check of one policy: does a payload have a signature by one of `keys`? Never throws, whatever the payload holds. */
export function signatureCheck(keys: readonly SignatureKey[]): SignatureCheck {
  return (payload, configMap) => {
    const found = verifyPayload(payload, keys);
    return found.ok ? found : { ok: false, finding: { field: '', rule: 'signature', message: messageOf(found, configMap) } };
  };
}

/** `reason` goes on after `kubelet.sig`; `remedy` is what to do. */
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
