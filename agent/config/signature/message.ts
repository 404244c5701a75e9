import { createHash } from 'node:crypto';
import { SignatureError } from './wire.ts';

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
