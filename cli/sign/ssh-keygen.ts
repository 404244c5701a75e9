import { NAMESPACE } from '../../agent/config/signature/check.ts';
import { ActionError } from '../../base/errors.ts';
import type { Context } from '../command.ts';

/** A person may have to find a passphrase, or an authenticator. */
const TIMEOUT_MS = 120_000;

/**
 * Has ssh-keygen sign `message`: it knows passphrases (asked for on the terminal), keys in an ssh-agent, FIDO authenticators and PKCS#11.
 * @param key - absolute path of a private key, or of the public key of one in the agent
 * @returns the armored signature
 * @throws ActionError with what ssh-keygen says
 */
export async function signWithSshKeygen({ exec, signal }: Context, key: string, message: string): Promise<string> {
  const ran = await exec('ssh-keygen', ['-Y', 'sign', '-n', NAMESPACE, '-f', key], { input: message, timeoutMs: TIMEOUT_MS, signal });
  if (ran.code === 0) return ran.stdout;
  signal.throwIfAborted();
  if (ran.code === null && ran.stderr.includes('ENOENT'))
    throw new ActionError('sign with', key, {
      hint: 'there is no ssh-keygen: install openssh-client, or sign the output of dkc sign --print-message elsewhere',
    });
  const said = ran.stderr.split('\n').map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('Signing')); // prettier-ignore
  throw new ActionError('sign with', key, { hint: `ssh-keygen: ${said.join('; ') || 'no reason given'}` });
}
