import { isoNow, nodeSide, nodeSideFlags, resolveRef } from './node-side.ts';
import { showStatus } from './status.ts';
import { executeRollback } from '../../agent/admin/rollback/execute.ts';
import { foresee } from '../../agent/admin/rollback/foresee.ts';
import { intendRollback, planRollback } from '../../agent/admin/rollback/plan.ts';
import { silentLog } from '../../base/log.ts';
import { fine, wrong } from '../command.ts';
import { kubeletOf } from '../config/kubelet-of.ts';
import { withNote } from '../note.ts';
import { printable } from '../printable.ts';
import type { Command } from '../command.ts';

export const rollback: Command = {
  describe: [
    'Takes the assigned configuration back on this node, now: its content is condemned, and the node goes to its last known good, or else ' +
      'to its local configuration. Works with the API server away. A running agent follows at once, a stopped one at its next start.',
    'The content stays condemned, under whatever name it comes again, until dkc retry or a new value of the annotation dkc.dev/retry on its ' +
      'ConfigMap. With --to another checkpoint becomes the last known good first; it must be one that this node would start on.',
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
    // Before the lock is taken: asking the kubelet for its version may take a while.
    const { note, ...kubelet } = await kubeletOf(context, node.options);
    const { disk, clock } = context;
    const planned = await node.store.locked(async (store) => {
      const facts = await node.observe();
      if (to !== undefined) resolveRef(to, facts);
      const intent = intendRollback(facts, {
        at: isoNow(context),
        ...(to === undefined ? {} : { to }),
        ...(key === undefined ? {} : { key }),
        ...(reason === undefined ? {} : { reason }),
      });
      if (intent.at === 'refused') return intent;
      // What boot says against a config is in the plan: on stderr it would only be said twice.
      const landing = await foresee(intent.after, { options: node.options, store, disk, clock, kubelet, log: silentLog });
      const plan = planRollback(intent, landing);
      if (plan.at === 'planned') await executeRollback(store, plan.steps);
      return plan;
    });
    if (planned.at === 'refused') return wrong(`Cannot roll back: ${planned.why}`);
    for (const text of planned.notes) context.stderr.write(`dkc: ${printable(text)}\n`);
    await showStatus(context, args, node);
    return withNote(context, fine, note);
  },
};
