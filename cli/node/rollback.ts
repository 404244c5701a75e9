import { applied, type Arrival, waitFlags } from './applied.ts';
import { isoNow, nodeSide, nodeSideFlags, refPositional, resolveRef } from './node-side.ts';
import { showStatus } from './status.ts';
import { decideRollback, executeRetry, executeRollback } from '../../agent/admin/rollback/execute.ts';
import { silentLog } from '../../base/log.ts';
import { type Command, withNote, wrong } from '../command.ts';
import { kubeletOf } from '../config/config-file.ts';
import { printable } from '../output/printable.ts';
import { fallBack } from '../../agent/admin/facts.ts';
import { planRetry } from '../../agent/admin/retry.ts';
import { ActionError } from '../../base/errors.ts';
import { UsageError } from '../failure.ts';

export const rollback: Command = {
  describe: [
    'Rolls back the assigned configuration on this node, now: its content is condemned, and the node returns to the last configuration that it ' +
      'trusted before, or else to its local configuration. Works without the API server. A running agent applies it at once, a stopped one at ' +
      'its next start.',
    'The content stays condemned, whatever ConfigMap it comes from, until dkc retry or a new value of the annotation dkc.dev/retry on its ' +
      'ConfigMap.',
    'With --to the node goes to another checkpoint, which must be usable on this node. One that passed a trial here becomes the ' +
      'last known good at once. One that never did, or that is condemned or refused, needs --force, and is on trial like any other.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc rollback --reason="pods evicted, INC-4711"', what: 'back to what this node trusted before' },
    { run: 'dkc rollback --dry-run', what: 'where it would go' },
    { run: 'dkc rollback --to=dkc-system/web:kubelet@10231', what: 'to a given checkpoint' },
    { run: 'dkc retry', what: 'clear the condemnation' },
  ],
  flags: [
    ...nodeSideFlags(['effective-config', 'local-config', 'kubelet-version', 'merge', 'policy']),
    { name: 'to', type: 'string', value: 'REF', text: 'checkpoint to roll back to, instead of the last trusted one', completes: 'ref' },
    {
      name: 'key',
      type: 'string',
      value: 'KEY',
      text: 'key that holds the kubelet configuration',
      defaultText: 'the recorded one, else the only one, else kubelet',
    },
    { name: 'reason', type: 'string', value: 'TEXT', text: 'reason to record in journal and status', defaultText: 'rolled back by admin' },
    { name: 'force', type: 'boolean', text: 'with --to: also a config that was never trusted here, or is condemned or refused' },
    { name: 'dry-run', type: 'boolean', text: 'show where the node would go, change nothing' },
    ...waitFlags,
  ],
  positionals: [],
  async run(context, args) {
    const node = await nodeSide(context, args);
    const [to, key, reason] = [args.text('to'), args.text('key'), args.text('reason')];
    const [force, dryRun] = [args.on('force'), args.on('dry-run')];
    // Before the lock is taken: `kubelet --version` may take a while.
    const { note, ...kubelet } = await kubeletOf(context, node.options);
    const { disk, clock } = context;
    const { store } = node;
    const planned = await store.locked(async () => {
      const facts = await node.observe();
      if (to !== undefined) resolveRef(to, facts);
      const asked = {
        at: isoNow(context),
        force,
        ...(to === undefined ? {} : { to }),
        ...(key === undefined ? {} : { key }),
        ...(reason === undefined ? {} : { reason }),
      };
      // Boot's reasons to reject a config are in the plan; its log would repeat them on stderr.
      const plan = await decideRollback(facts, asked, { options: node.options, store, disk, clock, kubelet, log: silentLog });
      const journal = plan.at === 'planned' && !dryRun ? await executeRollback(store, plan.steps) : undefined;
      return plan.at === 'planned' && journal !== undefined ? { ...plan, notes: [...plan.notes, journal] } : plan;
    });
    if (planned.at === 'refused') return wrong(`Cannot roll back: ${planned.why}`);
    for (const text of planned.notes) context.stderr.write(`dkc: ${dryRun ? 'dry run: ' : ''}${printable(text)}\n`);
    const goal: Arrival | undefined = dryRun ? undefined : planned.arrives;
    const exit = await applied(context, args, node, goal);
    await showStatus(context, args, node);
    return withNote(context, exit, note);
  },
};

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
    const { store } = node;
    const { plan, journal, arrival } = await store.locked(async () => {
      const facts = await node.observe();
      if (ref !== undefined) resolveRef(ref, facts, facts.condemned); // a condemned checkpoint may no longer be in the store
      const plan = planRetry(facts, { at: isoNow(context), all, ...(ref === undefined ? {} : { ref }) });
      const journal = plan.at === 'planned' ? await executeRetry(store, plan.cleared, plan.journal) : undefined;
      const cleared = plan.at === 'planned' ? plan.cleared : [];
      const then = fallBack({ ...facts, condemned: facts.condemned.filter((record) => !cleared.includes(record)) });
      // Only the agent knows the current assignment on the API server: the command can predict the result only if boot would use `assigned`.
      return { plan, journal, arrival: cleared.length > 0 && then.used === 'assigned' ? then : undefined };
    });
    if (plan.at === 'refused') throw new ActionError('retry', `condemned ${ref ?? 'config'}`, { hint: plan.why });
    for (const note of [...plan.notes, ...(journal === undefined ? [] : [journal])]) context.stderr.write(`dkc: ${printable(note)}\n`);
    const exit = await applied(context, args, node, arrival);
    await showStatus(context, args, node);
    return exit;
  },
};
