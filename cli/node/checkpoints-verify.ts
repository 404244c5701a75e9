import { nodeSide, nodeSideFlags } from './node-side.ts';
import type { Problem } from '../../agent/store/store.ts';
import { fine, wrong } from '../command.ts';
import { show, table, type Column } from '../output.ts';
import type { Command } from '../command.ts';

export const checkpointsVerify: Command = {
  describe:
    'Holds every checkpoint against its manifest and reads every record. Changes nothing. Exits with 1 when anything is damaged. ' +
    'A damaged checkpoint is downloaded again by the agent once it reaches the API server, a damaged record is set aside at its next start.',
  examples: [
    { run: 'dkc checkpoints verify', what: 'all of it' },
    { run: 'dkc checkpoints verify -o json', what: 'for monitoring' },
  ],
  flags: nodeSideFlags(),
  positionals: [],
  async run(context, args) {
    const { problems, entries } = await (await nodeSide(context, args)).observe();
    await show(context, args, {
      data: problems.map(({ path, problem }) => ({ path, problem })),
      people: (how) => {
        if (problems.length === 0)
          return `All is well: ${entries.length} ${entries.length === 1 ? 'checkpoint' : 'checkpoints'} and the records.\n`;
        const columns: Column<Problem>[] = [
          { title: 'PATH', value: ({ path }) => path },
          { title: 'PROBLEM', value: ({ problem }) => problem },
        ];
        return table(columns, problems, how);
      },
    });
    return problems.length === 0 ? fine : wrong(`${problems.length} of the store's files ${problems.length === 1 ? 'is' : 'are'} damaged`);
  },
};
