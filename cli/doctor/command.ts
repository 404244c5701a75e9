import { examineAll } from './examine.ts';
import { exitOf, reportData, reportText } from './report.ts';
import { NodeLook } from './look/node-look.ts';
import { nodeTopics } from './topics.ts';
import { agentFileFlag, nodeFlagsFor } from '../agent/flags.ts';
import { nodeOptions } from '../agent/node-options.ts';
import { agentOptions, settingsOf } from '../agent/options.ts';
import { formatFlag, show } from '../output/output.ts';
import { AGENT_CONFIG_FILE } from '../../agent/options.ts';
import { messageOf } from '../../base/errors.ts';
import { UsageError } from '../failure.ts';
import type { Args } from '../args/args.ts';
import type { Command, Context } from '../command.ts';

/** Longest time for what one group of checks looks at. */
const TIMEOUT_MS = 15_000;

export const doctor: Command = {
  describe: [
    'Checks what would keep dkc from working on this node, and says what to do about it. Changes nothing, and needs neither the API server nor a running agent. ' +
      'What cannot be looked at is skipped, and the detail says why: most checks need root.',
    'Exits with 0 if all is fine or there are only warnings, with 1 if a check failed, with 3 if nothing could be looked at.',
  ].join('\n\n'),
  examples: [
    { run: 'dkc doctor', what: 'what is wrong on this node' },
    { run: 'dkc doctor -o wide', what: 'also what each check wants' },
    { run: `dkc doctor -o json | jq '.[] | select(.result == "failed")'`, what: 'for scripts' },
  ],
  flags: [
    formatFlag,
    ...nodeFlagsFor(['node-name', 'kubeconfig', 'dynamic-config-dir', 'local-config', 'effective-config', 'kubelet-version', 'policy']),
  ],
  positionals: [],
  async run(context, args) {
    const look = await nodeLook(context, args);
    const { clock, signal } = context;
    const findings = await examineAll(nodeTopics, look, { clock, signal, timeoutMs: TIMEOUT_MS });
    const wants = new Map(nodeTopics.flatMap(({ checks }) => checks.map(({ name, wants }) => [name, wants] as const)));
    await show(context, args, { data: reportData(findings), people: (how) => reportText(findings, wants, how) });
    return exitOf(findings, 'this node');
  },
};

/** @throws UsageError for flags; settings that cannot be read are something that doctor itself says */
async function nodeLook(context: Context, args: Args): Promise<NodeLook> {
  const named = args.text(agentFileFlag.name);
  const settingsFile = named === undefined ? AGENT_CONFIG_FILE : context.path(named);
  try {
    return new NodeLook(context, await nodeOptions(context, args), { settingsFile });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return new NodeLook(context, agentOptions(settingsOf(args, context), {}, context), { settingsFile, settingsProblem: messageOf(error) });
  }
}
