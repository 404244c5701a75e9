import { nodeSide, nodeSideFlags } from './node-side.ts';
import { prune } from '../../agent/admin/checkpoints.ts';
import { fine } from '../command.ts';
import { show, table } from '../output/output.ts';
import { sourceText } from '../../agent/checkpoint/source.ts';
import { shortRefs } from '../../agent/admin/refs.ts';
import type { Command } from '../command.ts';

export const checkpointsPrune: Command = {
  describe:
    'Removes checkpoints that this node does not need: all but the assigned, the last known good and the active one, the one that the effective ' +
    'file was rendered from, and the newest N others. Removes nothing while the assignment is unknown. The agent prunes automatically.',
  examples: [
    { run: 'dkc checkpoints prune --dry-run', what: 'what would be removed' },
    { run: 'dkc checkpoints prune --keep=0', what: 'keep only what is in use' },
  ],
  flags: [
    ...nodeSideFlags(['effective-config']),
    { name: 'keep', type: 'number', value: 'N', text: 'how many others to keep', defaultText: 'keepCheckpoints in agent.yaml, else 5' },
    { name: 'dry-run', type: 'boolean', text: 'remove nothing' },
  ],
  positionals: [],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const keep = args.number('keep') ?? node.options.keepCheckpoints;
    const pruned = await prune(node.store, () => node.observe(), { keep, dryRun: args.on('dry-run') });
    await show(context, args, {
      data: pruned.map(({ source, removed }) => ({ source, removed })),
      people: (how) => {
        if (pruned.length === 0) return 'Nothing to remove.\n';
        const refs = shortRefs(pruned.map(({ source }) => source));
        return table(
          [
            { title: 'REF', value: ({ source, ref }) => (how.wide ? `${source.uid}/${source.resourceVersion}` : ref) },
            { title: 'CONFIG', value: ({ source }) => sourceText(source) },
            { title: 'REMOVED', value: ({ removed }) => (removed ? 'yes' : 'no (dry run)') },
          ],
          pruned.map((one, at) => ({ ...one, ref: refs[at] ?? '' })),
          how,
        );
      },
    });
    return fine;
  },
};
