import {
  allowedNames,
  isSignatureOf,
  NAMESPACE,
  parseSshSignature,
  SIGNATURE_KEY,
  signatureKeyOf,
  signedMessage,
  type SignedPayload,
  type Verified,
  verifyPayload,
} from '../../agent/config/signature/check.ts';
import { SignatureError } from '../../agent/config/signature/public-key.ts';
import { ActionError } from '../../base/errors.ts';
import { nodeFlagsFor } from '../agent/flags.ts';
import { type Command, type Context, type Exit, fine, wrong } from '../command.ts';
import { UsageError } from '../failure.ts';
import { printable, jsonText, yamlText } from '../output/printable.ts';
import { configMapOf, type PayloadFiles, readPayload } from './config-map.ts';
import { knownKeys, signWithSshKeygen } from './keys.ts';
import type { Args } from '../args/args.ts';

const formats = ['armor', 'configmap', 'json', 'yaml'] as const;
const DEFAULT_KEY = 'kubelet';

export const sign: Command = {
  describe: `Signs the data keys of a ConfigMap with an SSH key, for nodes whose field policy has signatureKeys: these accept a kubelet configuration only with the signature beside it, as the data key ${SIGNATURE_KEY}. ssh-keygen makes the signature, so the key may have a passphrase, be in an ssh-agent, or be on a FIDO authenticator.

Files are named as for kubectl create configmap --from-file: FILE, KEY=FILE, or a directory for all files in it. A manifest of a ConfigMap, or - for one on standard input, is signed as it is. The signature covers all data keys, the name of the one that holds the KubeletConfiguration, and the annotation dkc.dev/allow.

With --print-message, prints the text to sign and signs nothing; ssh-keygen -Y sign -n ${NAMESPACE} makes the same signature from that text.

With --verify, checks the existing signature against the signatureKeys in --policy, or the keys in --allowed-signers. Exits with 1 if none of these keys has signed the files.`,
  examples: [
    { run: 'dkc sign web/ --key ~/.ssh/id_ed25519 > web/kubelet.sig', what: 'all files in a directory' },
    { run: 'dkc sign web.yaml --key ~/.ssh/id_ed25519 -o configmap | kubectl apply -f -', what: 'a manifest of a ConfigMap' },
    {
      run: 'dkc sign kubelet=web.yaml ca.crt --key ci_key.pub --configmap dkc-system/web -o configmap',
      what: 'a ConfigMap made of files, by a key in ssh-agent',
    },
    {
      run: `dkc sign web/ --print-message | ssh-keygen -Y sign -n ${NAMESPACE} -f ci_key > web/kubelet.sig`,
      what: 'for a private key on another machine',
    },
    { run: 'dkc sign web/ --verify --policy=policy.yaml', what: 'whether nodes with this policy would accept it' },
    {
      run: 'kubectl -n dkc-system get configmap web -o yaml | dkc sign - --verify --allowed-signers=ci_key.pub',
      what: 'what is in the cluster',
    },
  ],
  flags: [
    { name: 'key', type: 'string', value: 'FILE', completes: 'file', text: 'private SSH key, or the public key of one in ssh-agent' },
    {
      name: 'kubelet-config-key',
      type: 'string',
      value: 'KEY',
      text: 'data key that holds the KubeletConfiguration, as assigned',
      defaultText: `the only one, else ${DEFAULT_KEY}`,
    },
    {
      name: 'allow',
      type: 'string',
      value: 'FIELD,..',
      text: 'value of the annotation dkc.dev/allow that the ConfigMap will have',
      defaultText: 'that of the manifest',
    },
    {
      name: 'configmap',
      type: 'string',
      value: 'NS/NAME',
      completes: 'configmap',
      text: 'name of the ConfigMap for -o configmap',
      defaultText: 'that of the manifest',
    },
    { name: 'print-message', type: 'boolean', text: 'print the text to sign, and sign nothing' },
    { name: 'verify', type: 'boolean', text: 'check the existing signature' },
    {
      name: 'allowed-signers',
      type: 'string',
      value: 'FILE',
      completes: 'file',
      text: 'with --verify: public keys, as in a .pub or an allowed_signers file',
      defaultText: 'signatureKeys of --policy',
    },
    ...nodeFlagsFor(['policy'], { policy: 'with --verify: field policy with the signatureKeys' }),
    {
      name: 'output',
      alias: 'o',
      type: 'string',
      value: 'FORMAT',
      choices: formats,
      default: 'armor',
      text: 'the signature alone (armor), the ConfigMap with it (configmap), or the signature and what it covers (json, yaml)',
    },
  ],
  positionals: [
    {
      name: 'file',
      text: 'FILE, KEY=FILE, a directory, a manifest of a ConfigMap, or - for a manifest on standard input',
      required: true,
      many: true,
      completes: 'file',
    },
  ],
  async run(context, args) {
    checkUsage(args);
    const read = await readPayload(context, args.many('file'));
    const payload = payloadOf(read, args);
    if (args.on('verify')) return verify(context, args, payload);
    const message = messageOf(payload);
    if (args.on('print-message')) {
      context.stdout.write(message);
      return fine;
    }
    const signature = await signWithSshKeygen(context, context.path(args.text('key') ?? ''), message);
    const { fingerprint, type } = checked(signature, message, args.text('key') ?? '');
    const { kubeletConfigKey, allow } = payload;
    const allowed = allowedNames(allow);
    const data = { kubeletConfigKey, allow: allowed, key: { type, fingerprint }, message, signature };
    const format = formats.find((one) => one === args.text('output')) ?? 'armor';
    const texts: Readonly<Record<(typeof formats)[number], () => string>> = {
      armor: () => signature,
      configmap: () => yamlText(configMapOf(read, { name: args.text('configmap'), signature, allow: args.text('allow') })),
      json: () => jsonText(data),
      yaml: () => yamlText(data),
    };
    context.stdout.write(texts[format]());
    return fine;
  },
};

/** @throws UsageError for flags that cannot be combined, before any file is read */
function checkUsage(args: Args): void {
  const usage = (problem: string): UsageError => new UsageError(`sign: ${problem}; see dkc sign --help`);
  const modes = (['key', 'print-message', 'verify'] as const).filter(
    (name) => args.value(name) !== undefined && args.value(name) !== false,
  );
  if (modes.length === 0) throw usage('--key is missing');
  if (modes.length > 1) throw usage(`--${modes[0]} and --${modes[1]} cannot be combined`);
  if (args.text('allowed-signers') !== undefined && !args.on('verify')) throw usage('--allowed-signers needs --verify');
  if (args.text('allowed-signers') !== undefined && args.text('policy') !== undefined)
    throw usage('--allowed-signers and --policy cannot be combined');
  const format = args.text('output');
  if (args.text('key') === undefined && format === 'configmap') throw usage('-o configmap needs --key');
}

/** @throws UsageError if it is not clear which data key holds the configuration */
function payloadOf({ files, allow }: PayloadFiles, args: Args): SignedPayload {
  const keys = [...files.keys()].filter((key) => key !== SIGNATURE_KEY);
  const [only = '', ...others] = keys;
  const key = args.text('kubelet-config-key') ?? (others.length === 0 ? only : DEFAULT_KEY);
  if (!keys.includes(key)) {
    const problem = keys.length === 0 ? 'there is no data key to sign' : `there is no data key ${JSON.stringify(key)}`;
    throw new UsageError(`sign: ${problem}; name the one that holds the KubeletConfiguration with --kubelet-config-key`);
  }
  return { files, kubeletConfigKey: key, allow: args.text('allow') ?? allow };
}

function messageOf(payload: SignedPayload): string {
  try {
    return signedMessage(payload);
  } catch (cause) {
    if (cause instanceof SignatureError) throw new UsageError(`sign: ${cause.message}`);
    throw cause;
  }
}

/** Rejects signatures that no agent accepts, such as those of an RSA key of 1,024 bits or of a certificate. @throws ActionError */
function checked(signature: string, message: string, file: string): ReturnType<typeof signatureKeyOf> {
  const bad = (hint: string): ActionError => new ActionError('sign with', file, { hint: `agents do not accept its signature: ${hint}` });
  try {
    const parsed = parseSshSignature(signature);
    const key = signatureKeyOf(parsed);
    if (!isSignatureOf(Buffer.from(message), parsed, key)) throw bad('it does not match these files');
    return key;
  } catch (error) {
    if (error instanceof SignatureError) throw bad(error.message);
    throw error;
  }
}

async function verify(context: Context, args: Args, payload: SignedPayload): Promise<Exit> {
  const { keys, from } = await knownKeys(context, args);
  const found: Verified = verifyPayload(payload, keys);
  const data = found.ok
    ? { signed: true, signer: found.signer.name, fingerprint: found.signer.fingerprint }
    : { signed: false, reason: `${SIGNATURE_KEY} ${found.reason}` };
  const format = args.text('output');
  if (format === 'json') context.stdout.write(jsonText(data));
  else if (format === 'yaml') context.stdout.write(yamlText(data));
  else if (found.ok) context.stdout.write(`Signed by ${printable(found.signer.name)} (${found.signer.fingerprint}).\n`);
  return found.ok ? fine : wrong(`not signed by a key in ${from}: ${SIGNATURE_KEY} ${found.reason}: ${found.remedy}`);
}
