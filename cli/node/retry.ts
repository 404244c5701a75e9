import { isoNow, nodeSide, nodeSideFlags, refPositional, resolveRef } from './node-side.ts';
import { showStatus } from './status.ts';
import { executeRetry } from '../../agent/admin/retry/execute.ts';
import { planRetry } from '../../agent/admin/retry/plan.ts';
import { ActionError } from '../../base/errors.ts';
import { sourceText } from '../../agent/checkpoint/source.ts';
import { fine } from '../command.ts';
import { printable } from '../printable.ts';
import type { Command } from '../command.ts';

export const retry: Command = {
  describe:
    'Takes condemnations back, all of them or those of one checkpoint. If the assigned configuration was condemned, the node tries it ' +
    'again: a running agent at once, a stopped one at its next start. The trial begins anew.',
  examples: [
    { run: 'dkc retry', what: 'forget all condemnations' },
    { run: 'dkc retry assigned', what: 'only that of the assigned configuration' },
  ],
  flags: nodeSideFlags,
  positionals: [refPositional],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const ref = args.one('ref');
    const plan = await node.store.locked(async (store) => {
      const facts = await node.observe();
      if (ref !== undefined) resolveRef(ref, facts, facts.condemned); // a condemned checkpoint may be gone from the store
      const plan = planRetry(facts, { at: isoNow(context), ...(ref === undefined ? {} : { ref }) });
      if (plan.at === 'planned') await executeRetry(store, plan.cleared, plan.journal);
      return plan;
    });
    if (plan.at === 'refused') throw new ActionError('retry', `condemned ${ref ?? ''}`, { hint: plan.why });
    const said = plan.cleared.map((record) => `${sourceText(record)} is no longer condemned`);
    for (const line of said.length > 0 ? said : ['nothing is condemned, nothing changed'])
      context.stderr.write(`dkc: ${printable(line)}\n`);
    await showStatus(context, args, node);
    return fine;
  },
};
