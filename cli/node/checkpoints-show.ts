import { nodeSide, nodeSideFlags, refPositional, resolveRef } from './node-side.ts';
import { sourceOf } from '../../agent/admin/roles.ts';
import { samePayload } from '../../agent/checkpoint/source.ts';
import { ActionError } from '../../base/errors.ts';
import { fine, wrong } from '../command.ts';
import { show } from '../output/output.ts';
import { printable, printableLines } from '../output/printable.ts';
import type { Command } from '../command.ts';

export const checkpointsShow: Command = {
  describe:
    'Prints the files of one checkpoint as they were downloaded. They may hold secrets, such as the header of staticPodURLHeader. ' +
    'With --file it prints only that file, byte for byte.',
  examples: [
    { run: 'dkc checkpoints show assigned', what: 'what is assigned to this node, all keys' },
    { run: 'dkc checkpoints show 8c1f2d34/10231 --file=kubelet > kubelet.yaml', what: 'one file, byte for byte' },
    { run: 'dkc checkpoints show last-known-good -o json', what: 'for scripts' },
  ],
  flags: [...nodeSideFlags(), { name: 'file', type: 'string', value: 'KEY', text: 'print only this file, raw' }],
  positionals: [{ ...refPositional, required: true }],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const facts = await node.observe();
    const asked = args.one('ref') ?? '';
    const found = resolveRef(asked, facts);
    if (found.at === 'local') {
      const hint = `it refers to the local config, which has no checkpoint: read ${node.options.localConfig}`;
      throw new ActionError('show', asked, { hint });
    }
    const state = await node.store.load(found.ref);
    if (state.at === 'missing')
      throw new ActionError('show', asked, { hint: 'its checkpoint is not in the store; see dkc checkpoints verify' });
    if (state.at === 'damaged') return wrong(`checkpoint ${asked} is damaged: ${state.path}: ${state.problem}`);

    const { files } = state.checkpoint.payload;
    const texts = Object.fromEntries(Array.from(files, ([key, bytes]) => [key, textOf(bytes)]));
    const file = args.text('file');
    if (file !== undefined) {
      const text = Object.hasOwn(texts, file) ? texts[file] : undefined;
      if (text === undefined)
        throw new ActionError('show', `${file} of ${asked}`, { hint: `no such key; it has: ${Object.keys(texts).join(', ')}` });
      context.stdout.write(text);
      return fine;
    }
    const entry = facts.entries.find((one) => samePayload(one.ref, found.ref));
    const recorded = found.source ?? (entry ? sourceOf(entry, facts) : null);
    const source = recorded && found.key !== undefined ? { ...recorded, kubeletConfigKey: found.key } : recorded;
    const kubelets = source?.kubeletConfigKey ?? '';
    await show(context, args, {
      data: { source, files: texts },
      people: ({ paint }) =>
        Object.entries(texts)
          .map(([key, text]) => {
            const title = `# ${printable(key)}${key === kubelets ? ' (the kubelet configuration)' : ''}`;
            return `${paint.bold(title)}\n${printableLines(text)}${text.endsWith('\n') ? '' : '\n'}`;
          })
          .join('\n'),
    });
    return fine;
  },
};

/** Data of a ConfigMap is UTF-8; a byte order mark is part of it. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
