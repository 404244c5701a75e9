import { fine, wrong, type Command } from '../command.ts';
import { nodeFlagsFor } from '../agent-flags.ts';
import { fileOptions } from '../node-options.ts';
import { withNote } from '../note.ts';
import { formatFlag, show, table, type People } from '../output.ts';
import { readConfigFile } from './config-file.ts';
import { directoryOf, judgeFile } from './judge-file.ts';
import { kubeletOf } from './kubelet-of.ts';
import type { Finding } from '../../agent/config/contract.ts';

export const validate: Command = {
  describe: `Judges a kubelet configuration as a kubelet of the given version would, and finds what would kill it on start. Works on any machine: what depends on the host is a warning only.

With --local-config the policy is judged too: which fields may differ from that file.`,
  examples: [
    { run: 'dkc validate kubelet.yaml --kubelet-version=1.34', what: 'a file' },
    { run: `kubectl -n dkc-system get configmap web -o jsonpath='{.data.kubelet}' | dkc validate -`, what: 'what a ConfigMap holds' },
    { run: 'dkc validate kubelet.yaml --local-config=/var/lib/kubelet/config.yaml', what: 'with policy' },
    { run: 'dkc validate kubelet.yaml -o json', what: 'for scripts' },
  ],
  flags: [
    ...nodeFlagsFor(['kubelet-version', 'local-config', 'merge', 'policy'], {
      'local-config': 'also validate the policy: which fields may differ from this file',
    }),
    formatFlag,
  ],
  positionals: [{ name: 'file', text: 'the file, or - for standard input', required: true, completes: 'file' }],
  async run(context, args) {
    const name = args.one('file') ?? '-';
    const { options, note: without } = await fileOptions(context, args);
    const bytes = await readConfigFile(context, name);
    const kubelet = await kubeletOf(context, options);
    const withPolicy = args.text('local-config') !== undefined;
    const { errors, warnings } = await judgeFile(context, { bytes, dir: directoryOf(context, name), options, kubelet, withPolicy });
    const valid = errors.length === 0;
    await show(context, args, {
      data: {
        valid,
        errors: errors.map(({ field, rule, message }) => ({ field, rule, message })),
        warnings: warnings.map(({ field, message }) => ({ field, message })),
      },
      people: (how) => findingsText(valid, errors, warnings, kubelet.version.text, how),
    });
    const named = name === '-' ? 'standard input' : name;
    const exit = valid ? fine : wrong(`${named} is not valid for kubelet ${kubelet.version.text}: ${count(errors.length, 'error')}`);
    return withNote(context, withNote(context, exit, without), kubelet.note);
  },
};

async function findingsText(
  valid: boolean,
  errors: readonly Finding[],
  warnings: readonly Finding[],
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
      { title: 'RULE', value: ({ rule }) => rule, wide: true },
      { title: 'MESSAGE', value: ({ message }) => message },
    ],
    rows,
    how,
  );
  const verdict = valid ? how.paint.green(`Valid for kubelet ${version}.`) : '';
  return `${rows.length > 0 ? listed : ''}${verdict === '' ? '' : `${verdict}\n`}`;
}

const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? '' : 's'}`;
