import { basename, dirname, join } from 'node:path';
import { SIGNATURE_KEY } from '../../agent/config/signature/check.ts';
import { readPolicy } from '../../agent/evaluate/node-inputs.ts';
import { isThere } from './config-file.ts';
import { readPayload } from '../sign/payload.ts';
import { UsageError } from '../failure.ts';
import type { Finding } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';
import type { Context } from '../command.ts';

export interface SignatureBeside {
  /** null: by nobody whom the policy knows. */
  signedBy: string | null;
  errors: readonly Finding[];
  warnings: readonly Finding[];
}

/**
 * Whether the directory of a file is signed as a ConfigMap made of it: by kubelet.sig in it, of all files there. A signature that is not there yet is a
 * warning, since a configuration is validated before it is signed; one that does not fit is an error.
 * @returns undefined where the policy asks for no signatures
 */
export async function signatureBeside(context: Context, name: string, { policy }: AgentOptions): Promise<SignatureBeside | undefined> {
  const { signatureCheck } = await readPolicy(policy, context.disk);
  if (!signatureCheck) return undefined;
  const unknown = (message: string): SignatureBeside => ({
    signedBy: null,
    errors: [],
    warnings: [
      { field: '', rule: 'signature', message: `not signed: ${message}; nodes with this policy accept signed configurations only` },
    ],
  });
  if (name === '-') return unknown('standard input has no kubelet.sig beside it');
  const dir = dirname(context.path(name));
  if (!(await isThere(context, join(dir, SIGNATURE_KEY))))
    return unknown('there is no kubelet.sig beside the file; make one with dkc sign');
  try {
    const { files } = await readPayload(context, [dir]);
    const found = signatureCheck({ files, kubeletConfigKey: basename(name), allow: undefined });
    if (found.ok) return { signedBy: found.signer.name, errors: [], warnings: [] };
    const message = `${found.finding.message}; with an annotation dkc.dev/allow: dkc sign --verify --allow`;
    return { signedBy: null, errors: [{ ...found.finding, message: message.replaceAll('this node', 'the node') }], warnings: [] };
  } catch (error) {
    if (error instanceof UsageError) return unknown(`the files beside it cannot form a ConfigMap (${error.message})`);
    throw error;
  }
}
