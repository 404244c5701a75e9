import { runFlags } from './flags.ts';
import type { Command } from '../command.ts';

/** Help and completion of `dkc agent run`; cli/main.ts runs the command without this file, so that the agent loads no parser. */
export const agentCommand: Command = {
  describe:
    `Runs the agent of one node: downloads the assigned kubelet configuration, validates it, applies it and reports its status. Runs as a
systemd unit. Exits with 0 when a new assignment is to be applied, and systemd starts it again.

Every flag can also be set in /etc/dkc/agent.yaml under the same name in camelCase; flags win.`.replace(/(?<!\n)\n(?!\n)/g, ' '),
  examples: [
    { run: 'dkc agent run --kubeconfig=/etc/dkc/kubeconfig', what: 'what dkc-agent.service does' },
    { run: 'dkc agent run --once -o json', what: 'choose and write the effective file, nothing else' },
    { run: 'dkc agent run --merge=overlay --trial-duration=5m', what: 'merge ConfigMaps into the local config' },
  ],
  flags: runFlags,
  positionals: [],
  async run(_, args) {
    const { runWith } = await import('./run.ts');
    const code = await runWith(args);
    return code === 0 ? { code: 0 } : { code: 1, why: 'the agent failed; see its log' };
  },
};
