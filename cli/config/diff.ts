import { applyDefaults, compareConfigs, type Difference } from '../../agent/config/config.ts';
import { nodeFlagsFor } from '../agent/flags.ts';
import { fileOptions } from '../agent/node-options.ts';
import { type Command, type Context, type Exit, fine, withNote, wrong } from '../command.ts';
import { formatFlag, type Paint, show, table } from '../output/output.ts';
import { UsageError } from '../failure.ts';
import { decodeFile, kubeletOf } from './config-file.ts';
import { jsonText } from '../output/printable.ts';
import type { FieldClass, Json } from '../../agent/config/contract.ts';
import type { Args } from '../args/args.ts';

export const diff: Command = {
  describe: `Compares two kubelet configurations field by field, both with the defaults of the given version filled in: a field that is left out equals one that is set to its default. Maps are compared key by key. Exits with 1 if they differ.

CLASS is the risk of changing the field on a live node: safe, needs-drain, dangerous or node-specific.`,
  examples: [
    { run: 'dkc diff /var/lib/kubelet/config.yaml web.yaml', what: 'what would change on a node' },
    { run: `kubectl -n dkc-system get configmap web -o jsonpath='{.data.kubelet}' | dkc diff kubelet.yaml -`, what: 'against a ConfigMap' },
  ],
  flags: [...nodeFlagsFor(['kubelet-version']), formatFlag],
  positionals: [
    { name: 'old', text: 'a file, or - for standard input', required: true, completes: 'file' },
    { name: 'new', text: 'the file to compare it with, or - for standard input', required: true, completes: 'file' },
  ],
  async run(context, args) {
    const [a = '-', b = '-'] = [args.one('old'), args.one('new')];
    if (a === '-' && b === '-') throw new UsageError('diff: only one of the two can be standard input; see dkc diff --help');
    const { options, note: without } = await fileOptions(context, args);
    const { version, note } = await kubeletOf(context, options);
    // Relative paths stay as written: the directory of a file here is not the directory where a node will use it.
    // One after the other: if one file fails, the command must not still wait for standard input of the other.
    const left = applyDefaults(await decodeFile(context, a, version), version);
    const right = applyDefaults(await decodeFile(context, b, version), version);
    const named = (name: string): string => (name === '-' ? 'standard input' : name);
    const exit = await showDifferences(context, args, compareConfigs(left, right, { byKey: true }), named(a), named(b));
    return withNote(context, withNote(context, exit, without), note);
  },
};

/** Prints the differences of two configurations, for every command that compares. @returns 1 if there are any */
async function showDifferences(context: Context, args: Args, differences: readonly Difference[], a: string, b: string): Promise<Exit> {
  await show(context, args, {
    data: differences.map(({ field, class: of, from, to }) => ({ field, class: of, from, to })),
    people: (how) =>
      differences.length === 0
        ? `${a} and ${b} are equivalent.\n`
        : table(
            [
              { title: 'FIELD', value: ({ field }) => field },
              { title: 'CLASS', value: (one) => one.class, paint: (cell, one, paint) => classPaint(one.class, paint)(cell) },
              { title: 'FROM', value: ({ from }) => valueText(from, true) },
              { title: 'TO', value: ({ to }) => valueText(to, true) },
            ],
            differences,
            how,
          ),
  });
  return differences.length === 0
    ? fine
    : wrong(`${a} and ${b} differ in ${differences.length} field${differences.length === 1 ? '' : 's'}`);
}

/** Color by class: the more a change of such a field can break, the more striking. */
export function classPaint(of: FieldClass, paint: Paint): (text: string) => string {
  switch (of) {
    case 'safe':
      return paint.green;
    case 'needs-drain':
      return paint.yellow;
    case 'dangerous':
    case 'node-specific':
      return paint.red;
  }
}

/** Longer values are truncated, except with -o wide. */
const MAX_LENGTH = 48;

/** A value of a field in a table: text without quotes, other types as JSON; `-` if unset. */
export function valueText(value: Json, wide: boolean): string {
  const text = value === null ? '-' : typeof value === 'string' ? (value === '' ? '""' : value) : jsonText(value, 0).trimEnd();
  return wide || text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 2)}..`;
}
