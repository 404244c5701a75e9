import { isoNow, nodeSide, nodeSideFlags, resolveRef } from './node-side.ts';
import { showStatus } from './status.ts';
import { executeRollback } from '../../agent/admin/rollback/execute.ts';
import { planRollback } from '../../agent/admin/rollback/plan.ts';
import { fine, wrong } from '../command.ts';
import { printable } from '../printable.ts';
import type { Command } from '../command.ts';

export const rollback: Command = {
  describe: [
    'Takes the assigned configuration back on this node, now: its content is condemned, and the node goes to its last known good, or else ' +
      'to its local configuration. Works with the API server away. A running agent follows at once, a stopped one at its next start.',
    'The content stays condemned, under whatever name it comes again, until dkc retry or a new value of the annotation dkc.dev/retry on its ' +
      'ConfigMap. With --to another checkpoint becomes the last known good first.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc rollback --reason="pods evicted, INC-4711"', what: 'back to the last known good' },
    { run: 'dkc rollback --to=8c1f2d34/10231', what: 'back to a certain checkpoint' },
    { run: 'dkc retry', what: 'take the condemnation back' },
  ],
  flags: [
    ...nodeSideFlags,
    { name: 'to', type: 'string', value: 'REF', text: 'checkpoint that becomes the last known good', completes: 'ref' },
    {
      name: 'key',
      type: 'string',
      value: 'KEY',
      text: 'which of its keys is the kubelet configuration',
      defaultText: 'as a record says, else the only one, else kubelet',
    },
    { name: 'reason', type: 'string', value: 'TEXT', text: 'goes into journal and status', defaultText: 'rolled back by admin' },
  ],
  positionals: [],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const [to, key, reason] = [args.text('to'), args.text('key'), args.text('reason')];
    const planned = await node.store.locked(async (store) => {
      const facts = await node.observe();
      if (to !== undefined) resolveRef(to, facts);
      const plan = planRollback(facts, {
        at: isoNow(context),
        ...(to === undefined ? {} : { to }),
        ...(key === undefined ? {} : { key }),
        ...(reason === undefined ? {} : { reason }),
      });
      if (plan.at === 'planned') await executeRollback(store, plan.steps);
      return plan;
    });
    if (planned.at === 'refused') return wrong(`Cannot roll back: ${planned.why}`);
    for (const note of planned.notes) context.stderr.write(`dkc: ${printable(note)}\n`);
    await showStatus(context, args, node);
    return fine;
  },
};
