import { type Command, fine, type Flag } from '../command.ts';
import { connectFlags, withClient } from '../connect/flags.ts';
import { UsageError } from '../failure.ts';
import { formatFlag, show, table } from '../output/output.ts';
import { readFleet } from './fleet-objects.ts';
import { exitOf, follow } from './follow.ts';
import { rolloutColumns, treeText } from './status-text.ts';
import { getRollout, listRollouts, rolloutName, rolloutPositional } from './rollouts.ts';
import { viewOf } from './view.ts';

const timeoutFlag: Flag = { name: 'timeout', type: 'duration', value: 'TIME', text: 'exit with 1 after this time', defaultText: 'none' };

const EXITS =
  'Exits with 0 when the rollout is complete; with 1 when its nodes were rolled back (RolledBack), when it has failed, or when it has stopped after failures ' +
  '(Paused)';

export const rolloutStatus: Command = {
  describe: `Shows a rollout as a tree: its phase and what it waits for, then its steps, and under each the nodes that it adds. Without NAME lists all rollouts.

States of nodes: settled (uses the configuration, which passed its trial, and the Node is Ready); in-flight (assigned, not settled yet); failed (rejected it, rolled it back, or was not settled by the deadline); waiting (not changed yet); not-ready and no-agent (cannot be changed now). A step of many nodes lists those that failed or are in flight first and counts the others; -o wide lists all.

${EXITS}. While it is under way, exits with 0, or with -w waits for its end. Exits with 130 on Ctrl-C. Without dkc, kubectl wait --for=condition=Complete ncr/NAME waits as well.`,
  examples: [
    { run: 'dkc rollout status', what: 'all rollouts' },
    { run: 'dkc rollout status web', what: 'one, with its steps and nodes' },
    { run: 'dkc rollout status web -w --timeout=2h', what: 'for scripts: wait for its end' },
    { run: 'dkc rollout status web -o json', what: 'the object' },
  ],
  flags: [
    { name: 'watch', alias: 'w', type: 'boolean', text: 'wait for the end of the rollout, as dkc rollout watch does' },
    { ...timeoutFlag, text: `with --watch: ${timeoutFlag.text}` },
    ...connectFlags,
    formatFlag,
  ],
  positionals: [{ ...rolloutPositional, required: false }],
  run: (context, args) =>
    withClient(context, args, async (client) => {
      const { signal, clock } = context;
      if (args.one('name') === undefined) {
        if (args.on('watch')) throw new UsageError('rollout status: --watch needs NAME; see dkc rollout status --help');
        const all = await listRollouts(client, signal);
        const people = 'No rollouts; dkc rollout create makes one.\n';
        await show(context, args, {
          data: all,
          people: (how) => (all.length === 0 ? people : table(rolloutColumns(clock.now()), all, how)),
        });
        return fine;
      }
      const name = rolloutName('rollout status', args);
      const rollout = await getRollout(client, name, 'show', signal);
      if (args.on('watch')) return follow(context, args, client, name);
      await show(context, args, {
        data: rollout,
        people: async (how) => {
          const fleet = await readFleet(client, signal);
          return treeText(viewOf(fleet.rollouts.get(name) ?? rollout, fleet, clock.now()), clock.now(), how);
        },
      });
      return exitOf(rollout) ?? fine;
    }),
};

export const rolloutWatch: Command = {
  describe: `Shows a rollout until its end: on a terminal as the tree of dkc rollout status, redrawn on every change; elsewhere as one line per change, or with -o json one object per line.

${EXITS}, was deleted, or --timeout has passed; with 130 on Ctrl-C.`,
  examples: [
    { run: 'dkc rollout watch web', what: 'live' },
    { run: 'dkc rollout watch web --timeout=2h | tee rollout.log', what: 'one line per change, for a pipeline' },
  ],
  flags: [timeoutFlag, ...connectFlags, formatFlag],
  positionals: [rolloutPositional],
  run: (context, args) =>
    withClient(context, args, async (client) => {
      const name = rolloutName('rollout watch', args);
      await getRollout(client, name, 'watch', context.signal);
      return follow(context, args, client, name);
    }),
};
