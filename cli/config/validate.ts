import { type Command, type Context, fine, withNote, wrong } from '../command.ts';
import { nodeFlagsFor } from '../agent/flags.ts';
import { fileOptions } from '../agent/node-options.ts';
import { formatFlag, type People, show, table } from '../output/output.ts';
import { isThere, kubeletOf, readConfigFile } from './config-file.ts';
import { directoryOf, type FileValidation, validateFile } from './validate-file.ts';
import { UsageError } from '../failure.ts';
import { printable } from '../output/printable.ts';
import { basename, dirname, join } from 'node:path';
import { SIGNATURE_KEY } from '../../agent/config/signature/check.ts';
import { readPolicy } from '../../agent/evaluate/node-inputs.ts';
import { readPayload } from '../sign/config-map.ts';
import type { Finding } from '../../agent/config/contract.ts';
import type { AgentOptions } from '../../agent/options.ts';

export const validate: Command = {
  describe: `Validates kubelet configurations as a kubelet of the given version would, and finds what would keep it from starting or break its pods. Lists all problems of a file at once, with line numbers. Works on any machine: a finding that depends on this machine is only a warning, and says so.

With --local-config the field policy is applied too: which fields may differ from that file, and where it has signatureKeys, whether kubelet.sig beside the file is a valid signature of all files there. With --strict all warnings about the file itself are errors: unknown fields, duplicate keys, values that break pods.

Exits with 1 on any error in any file.`,
  examples: [
    { run: 'dkc validate kubelet.yaml --kubelet-version=1.36', what: 'a file' },
    { run: 'dkc validate --strict pools/*.yaml', what: 'in CI' },
    { run: `kubectl -n dkc-system get configmap web -o jsonpath='{.data.kubelet}' | dkc validate -`, what: 'what a ConfigMap holds' },
    { run: 'dkc validate kubelet.yaml --local-config=/var/lib/kubelet/config.yaml', what: 'with the field policy' },
    { run: 'dkc validate kubelet.yaml -o json', what: 'for scripts' },
  ],
  flags: [
    ...nodeFlagsFor(['kubelet-version', 'local-config', 'merge', 'policy'], {
      'local-config': 'also apply the field policy: which fields may differ from this file',
    }),
    { name: 'strict', type: 'boolean', text: 'unknown fields, duplicate keys and other warnings about a file are errors' },
    formatFlag,
  ],
  positionals: [{ name: 'file', text: 'files, or - for standard input', required: true, many: true, completes: 'file' }],
  async run(context, args) {
    const names = args.many('file');
    if (names.filter((name) => name === '-').length > 1)
      throw new UsageError('validate: only one of the files can be standard input; see dkc validate --help');
    const { options, note: without } = await fileOptions(context, args);
    const kubelet = await kubeletOf(context, options);
    const withPolicy = args.text('local-config') !== undefined;
    const validated: Validated[] = [];
    for (const name of names) {
      const bytes = await readConfigFile(context, name);
      const dir = directoryOf(context, name);
      const found = await validateFile(context, { bytes, dir, options, kubelet, withPolicy, strict: args.on('strict') });
      const signature = withPolicy ? await signatureBeside(context, name, options) : undefined;
      const errors = [...found.errors, ...(signature?.errors ?? [])];
      const warnings = [...found.warnings, ...(signature?.warnings ?? [])];
      validated.push({ name, errors, warnings, ...(signature ? { signedBy: signature.signedBy } : {}) });
    }
    const [only] = validated;
    await show(context, args, {
      data: validated.length === 1 && only ? dataOf(only) : validated.map((one) => ({ file: one.name, ...dataOf(one) })),
      people: async (how) => {
        const texts = await Promise.all(validated.map((one) => findingsText(one, validated.length > 1, kubelet.version.text, how)));
        return texts.join(validated.length > 1 ? '\n' : '');
      },
    });
    const bad = validated.filter(({ errors }) => errors.length > 0);
    const named = bad.map(({ name }) => (name === '-' ? 'standard input' : name)).join(', ');
    const errors = count(
      bad.reduce((sum, one) => sum + one.errors.reduce((all, { more = 1 }) => all + more, 0), 0),
      'error',
    );
    const exit =
      bad.length === 0
        ? fine
        : wrong(`${named} ${bad.length === 1 ? 'is' : 'are'} not valid for kubelet ${kubelet.version.text}: ${errors}`);
    return withNote(context, withNote(context, exit, without), kubelet.note);
  },
};

interface Validated extends FileValidation {
  name: string;
  /** Only if the policy requires signatures; null: not signed by a key of the policy. */
  signedBy?: string | null;
}

function dataOf({ errors, warnings, signedBy }: Validated) {
  return {
    valid: errors.length === 0,
    errors: errors.map(({ field, rule, message, line }) => ({ field, rule, message, ...(line === undefined ? {} : { line }) })),
    warnings: warnings.map(({ field, message, line }) => ({ field, message, ...(line === undefined ? {} : { line }) })),
    ...(signedBy === undefined ? {} : { signedBy }),
  };
}

async function findingsText(
  { name, errors, warnings, signedBy }: Validated,
  isOneOfMany: boolean,
  version: string,
  how: People,
): Promise<string> {
  const rows = [
    ...errors.map((finding) => ({ level: 'error', ...finding })),
    ...warnings.map((finding) => ({ level: 'warning', ...finding })),
  ];
  const listed = await table(
    [
      {
        title: 'LEVEL',
        value: ({ level }) => level,
        paint: (cell, { level }, paint) => (level === 'error' ? paint.red(cell) : paint.yellow(cell)),
      },
      { title: 'FIELD', value: ({ field }) => field },
      { title: 'LINE', value: ({ line }) => (line === undefined ? '' : String(line)) },
      { title: 'RULE', value: ({ rule }) => rule, wide: true },
      { title: 'MESSAGE', value: ({ message }) => message },
    ],
    rows,
    how,
  );
  const head = isOneOfMany ? `${how.paint.bold(printable(name === '-' ? 'standard input' : name))}:\n` : '';
  const verdict = errors.length === 0 ? `${how.paint.green(`Valid for kubelet ${version}.`)}\n` : '';
  const signer = signedBy === undefined || signedBy === null ? '' : `Signed by ${printable(signedBy)}.\n`;
  return `${head}${rows.length > 0 ? listed : ''}${verdict}${signer}`;
}

const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? '' : 's'}`;

interface SignatureBeside {
  /** null: not signed by a key of the policy. */
  signedBy: string | null;
  errors: readonly Finding[];
  warnings: readonly Finding[];
}

/**
 * Verifies kubelet.sig in the directory of a file: it must sign all files there, as in a ConfigMap made of the directory. A missing signature is a
 * warning, since a configuration is validated before it is signed; a signature that does not match is an error.
 * @returns undefined if the policy requires no signatures
 */
async function signatureBeside(context: Context, name: string, { policy }: AgentOptions): Promise<SignatureBeside | undefined> {
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
