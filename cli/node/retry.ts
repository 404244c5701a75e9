import { applied, waitFlags } from './applied.ts';
import { isoNow, nodeSide, nodeSideFlags, refPositional, resolveRef } from './node-side.ts';
import { showStatus } from './status.ts';
import { fallBack } from '../../agent/admin/facts.ts';
import { executeRetry } from '../../agent/admin/rollback/execute.ts';
import { planRetry } from '../../agent/admin/retry.ts';
import { ActionError } from '../../base/errors.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { printable } from '../output/printable.ts';

export const retry: Command = {
  describe:
    'Clears the condemnation of the assigned configuration, or of REF. If it is the assigned one, the node tries it ' +
    'again: a running agent at once, a stopped one at its next start. The trial starts from the beginning.',
  examples: [
    { run: 'dkc retry', what: 'try the assigned configuration again' },
    { run: 'dkc retry dkc-system/web', what: 'clear the condemnation of one config' },
    { run: 'dkc retry --all', what: 'clear all condemnations of this node' },
  ],
  flags: [
    ...nodeSideFlags(['effective-config']),
    { name: 'all', type: 'boolean', text: 'clear all condemnations of this node' },
    ...waitFlags,
  ],
  positionals: [{ ...refPositional, text: `${refPositional.text} (default: assigned)` }],
  async run(context, args) {
    const ref = args.one('ref');
    const all = args.on('all');
    if (all && ref !== undefined) throw new UsageError('retry: REF and --all cannot be combined');
    const node = await nodeSide(context, args);
    const { plan, arrival } = await node.store.locked(async (store) => {
      const facts = await node.observe();
      if (ref !== undefined) resolveRef(ref, facts, facts.condemned); // a condemned checkpoint may be gone from the store
      const plan = planRetry(facts, { at: isoNow(context), all, ...(ref === undefined ? {} : { ref }) });
      if (plan.at === 'planned') await executeRetry(store, plan.cleared, plan.journal);
      const cleared = plan.at === 'planned' ? plan.cleared : [];
      const then = fallBack({ ...facts, condemned: facts.condemned.filter((record) => !cleared.includes(record)) });
      // What the API server assigns besides is the agent's to find out: only of the assigned it is known where the node goes.
      return { plan, arrival: cleared.length > 0 && then.used === 'assigned' ? then : undefined };
    });
    if (plan.at === 'refused') throw new ActionError('retry', `condemned ${ref ?? 'config'}`, { hint: plan.why });
    for (const note of plan.notes) context.stderr.write(`dkc: ${printable(note)}\n`);
    const exit = await applied(context, args, node, arrival);
    await showStatus(context, args, node);
    return exit;
  },
};
