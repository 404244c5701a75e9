import { applyDefaults, compareConfigs } from '../../agent/config/config.ts';
import { nodeFlagsFor } from '../agent/flags.ts';
import { fileOptions } from '../agent/node-options.ts';
import { withNote, type Command } from '../command.ts';
import { formatFlag } from '../output/output.ts';
import { UsageError } from '../failure.ts';
import { decodeFile, kubeletOf } from './config-file.ts';
import { showDifferences } from './differences.ts';

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
    { name: 'new', text: 'another', required: true, completes: 'file' },
  ],
  async run(context, args) {
    const [a = '-', b = '-'] = [args.one('old'), args.one('new')];
    if (a === '-' && b === '-') throw new UsageError('diff: only one of the two can be standard input; see dkc diff --help');
    const { options, note: without } = await fileOptions(context, args);
    const { version, note } = await kubeletOf(context, options);
    // Relative paths stay as written: where a file lies today says nothing about where it will be used.
    // One after the other: an error of one must not leave the other waiting for somebody's typing.
    const left = applyDefaults(await decodeFile(context, a, version), version);
    const right = applyDefaults(await decodeFile(context, b, version), version);
    const named = (name: string): string => (name === '-' ? 'standard input' : name);
    const exit = await showDifferences(context, args, compareConfigs(left, right, { byKey: true }), named(a), named(b));
    return withNote(context, withNote(context, exit, without), note);
  },
};
