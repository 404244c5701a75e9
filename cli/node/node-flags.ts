import { nodeFlags } from '../agent/flags.ts';
import { fine, type Command } from '../command.ts';
import { helpText } from '../help/help.ts';

/** A topic of help: `dkc help node-flags`. */
export const nodeFlagsTopic: Command = {
  describe: [
    'Commands on a node use the settings of its agent: they read /etc/dkc/agent.yaml, or the file that ' +
      '--agent-config names; flags win. Each of these commands accepts all flags below; its own help lists those that have an effect.',
    'Commands on files (validate, diff, render FILE) work without agent.yaml, even if this user may not read it.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc node-flags', what: 'this list' },
    { run: 'dkc status --agent-config=/tmp/dkc-demo/agent.yaml', what: 'the node of another agent, such as that of dkc demo --keep' },
    { run: 'dkc history --dynamic-config-dir=/mnt/var/lib/dkc', what: 'a store on a mounted disk of another machine' },
  ],
  flags: nodeFlags,
  positionals: [],
  async run(context) {
    context.stdout.write(helpText({ name: 'node-flags', below: [] }, nodeFlagsTopic, nodeFlags, context.stdout.columns ?? HELP_WIDTH));
    return fine;
  },
};

const HELP_WIDTH = 100;
