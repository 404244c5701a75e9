import { nodeSide, nodeSideFlags, type NodeSide } from './node-side.ts';
import { recorded, type AdminFacts } from '../../agent/admin/facts.ts';
import { sameSource } from '../../agent/checkpoint/source.ts';
import { SIGNATURE_KEY } from '../../agent/config/signature/check.ts';
import { signersOf } from '../../agent/evaluate/node-inputs.ts';
import type { Problem } from '../../agent/store/store.ts';
import { fine, wrong } from '../command.ts';
import { show, table, type Column } from '../output/output.ts';
import type { Command, Context } from '../command.ts';

export const checkpointsVerify: Command = {
  describe:
    'Checks every checkpoint against its manifest, every record, and the local config; where the field policy has signatureKeys, also who ' +
    'signed the assigned and the last known good config. Changes nothing. Exits with 1 if anything is damaged, missing or not signed. ' +
    'The agent downloads a damaged checkpoint again once it reaches the API server, and sets a damaged record aside at its next start.',
  examples: [
    { run: 'dkc checkpoints verify', what: 'the whole store' },
    { run: 'dkc checkpoints verify -o json', what: 'for monitoring' },
  ],
  flags: nodeSideFlags(['policy'], { policy: 'field policy with the signatureKeys that must have signed the configs in use' }),
  positionals: [],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const facts = await node.observe();
    const { entries } = facts;
    const [local, unsigned] = [localProblems(facts), await unsignedProblems(context, node, facts)];
    const problems = [...facts.problems, ...local, ...unsigned];
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
      ...(local.length === 0 ? [] : ['the local config cannot be used']),
      ...(unsigned.length === 0 ? [] : ['the config in use is not signed']),
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

/** What boot would not load for want of a signature: the assigned and the last known good. */
async function unsignedProblems({ disk }: Context, { options, store, paths }: NodeSide, facts: AdminFacts): Promise<Problem[]> {
  const ask = await signersOf(options, disk, store);
  if (ask === 'none' || ask === 'unknown') return [];
  const [assigned, trusted] = [recorded(facts.assigned), recorded(facts.lastKnownGood)];
  const problems: Problem[] = [];
  for (const source of sameSource(assigned, trusted) ? [assigned] : [assigned, trusted]) {
    const found = await ask(source);
    if (source !== null && found?.ok === false) problems.push({ path: paths.file(source, SIGNATURE_KEY), problem: found.finding.message });
  }
  return problems;
}
