import { ActionError } from '../../../base/errors.ts';
import type { Finding } from '../contract.ts';
import { SIGNATURE_KEY, signedMessage, type SignedPayload } from './message.ts';
import { parseKeyLine, type SignatureKey } from './public-key.ts';
import { isSignatureOf, MAX_SIGNATURE, parseSshSignature, signatureKeyOf } from './sshsig.ts';
import { SignatureError } from './wire.ts';

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
