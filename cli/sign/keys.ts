import { NAMESPACE, parseSignatureKeys } from '../../agent/config/signature/check.ts';
import { KEY_TYPES, parseKeyLine, SignatureError, type SignatureKey } from '../../agent/config/signature/public-key.ts';
import { readPolicy } from '../../agent/evaluate/node-inputs.ts';
import { DEFAULT_POLICY_FILE } from '../../agent/options.ts';
import { ActionError } from '../../base/errors.ts';
import { fileOptions } from '../agent/node-options.ts';
import { readConfigFile } from '../config/config-file.ts';
import type { Args } from '../args/args.ts';
import type { Context } from '../command.ts';

/** Long, since the user may have to look up a passphrase or fetch an authenticator. */
const TIMEOUT_MS = 120_000;

/**
 * Signs `message` with ssh-keygen, which supports passphrases (read from the terminal), keys in an ssh-agent, FIDO authenticators and PKCS#11.
 * @param key - absolute path of a private key, or of the public key of a key in the ssh-agent
 * @returns the armored signature
 * @throws ActionError with ssh-keygen's error
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

/**
 * The keys that `dkc sign --verify` accepts, and the file that contains them.
 * @throws ActionError if the file cannot be read, or has no keys
 */
export async function knownKeys(context: Context, args: Args): Promise<{ keys: readonly SignatureKey[]; from: string }> {
  const file = args.text('allowed-signers');
  if (file !== undefined) return { keys: allowedSigners(new TextDecoder().decode(await readConfigFile(context, file)), file), from: file };
  const { options } = await fileOptions(context, args);
  const from = options.policy ?? DEFAULT_POLICY_FILE;
  const { policy, problem } = await readPolicy(options.policy, context.disk);
  if (problem !== undefined) throw new ActionError('use the policy', problem, { hint: 'fix it' });
  if (policy === 'none' || policy.signatureKeys.length === 0)
    throw new ActionError('verify with', from, {
      hint: 'it has no signatureKeys; name a policy with --policy, or keys with --allowed-signers',
    });
  return { keys: parseSignatureKeys(policy.signatureKeys), from };
}

/** Lines of a .pub file or of authorized_keys, and lines of allowed_signers (`PRINCIPALS TYPE KEY`) without options. @throws ActionError */
function allowedSigners(text: string, file: string): SignatureKey[] {
  const keys: SignatureKey[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const words = line.trim().split(/[ \t]+/);
    const [first = '', type = '', key = ''] = words;
    if (first === '' || first.startsWith('#')) continue;
    try {
      keys.push(parseKeyLine(KEY_TYPES.includes(type) ? `${type} ${key} ${first}` : line));
    } catch (cause) {
      if (!(cause instanceof SignatureError)) throw cause;
      throw new ActionError('use', `line ${index + 1} of ${file}`, { hint: cause.message, cause });
    }
  }
  if (keys.length === 0) throw new ActionError('verify with', file, { hint: 'there is no public key in it' });
  return keys;
}
