import { nodeSide, nodeSideFlags } from './node-side.ts';
import type { AdminFacts } from '../../agent/admin/facts.ts';
import type { Problem } from '../../agent/store/store.ts';
import { fine, wrong } from '../command.ts';
import { show, table, type Column } from '../output/output.ts';
import type { Command } from '../command.ts';

export const checkpointsVerify: Command = {
  describe:
    'Checks every checkpoint against its manifest, every record, and the local config. Changes nothing. Exits with 1 if anything is ' +
    'damaged or missing. ' +
    'The agent downloads a damaged checkpoint again once it reaches the API server, and sets a damaged record aside at its next start.',
  examples: [
    { run: 'dkc checkpoints verify', what: 'all of it' },
    { run: 'dkc checkpoints verify -o json', what: 'for monitoring' },
  ],
  flags: nodeSideFlags(),
  positionals: [],
  async run(context, args) {
    const facts = await (await nodeSide(context, args)).observe();
    const { entries } = facts;
    const problems = [...facts.problems, ...localProblems(facts)];
    await show(context, args, {
      data: problems.map(({ path, problem }) => ({ path, problem })),
      people: (how) => {
        if (problems.length === 0)
          return `OK: ${entries.length} ${entries.length === 1 ? 'checkpoint' : 'checkpoints'} and all records are intact.\n`;
        const columns: Column<Problem>[] = [
          { title: 'PATH', value: ({ path }) => path },
          { title: 'PROBLEM', value: ({ problem }) => problem },
        ];
        return table(columns, problems, how);
      },
    });
    const damaged = facts.problems.length;
    const faults = [
      ...(damaged === 0 ? [] : [`${damaged} of the store's files ${damaged === 1 ? 'is' : 'are'} damaged`]),
      ...(problems.length === damaged ? [] : ['the local config cannot be used']),
    ];
    return faults.length === 0 ? fine : wrong(faults.join('; '));
  },
};

/** The last fallback belongs to what has to be there, though it is no part of the store. */
function localProblems({ local, active }: AdminFacts): Problem[] {
  if (local.at === 'missing') return [{ path: local.path, problem: 'no local config: there is no last fallback' }];
  if (local.at === 'broken') return [{ path: local.path, problem: local.problem }];
  const notice = active?.ok ? active.record.notices?.find(({ about }) => about === 'local-config') : undefined;
  return notice ? [{ path: local.path, problem: notice.text }] : [];
}
