import { nodeCommands } from './node/commands.ts';
import type { Command } from './command.ts';

/** One line of `dkc help`. The module behind it is loaded when it is asked for. */
export interface Entry {
  /** Words after `dkc`: `checkpoints list`. */
  name: string;
  /** One line, beginning in upper case, no full stop. */
  summary: string;
  /** Section of `dkc help`. */
  group: 'On a node' | 'Configuration files' | 'Fleet' | 'Around it';
  /** Works, but help and completion do not list it. */
  hidden?: boolean;
  load(): Promise<Command>;
}

/** Every command, in the order of `dkc help`. */
export const commands: readonly Entry[] = [
  {
    name: 'agent run',
    summary: "Run this node's agent, as its systemd unit does",
    group: 'On a node',
    load: async () => (await import('./agent-command.ts')).agentCommand,
  },
  ...nodeCommands,
  {
    name: 'version',
    summary: 'Print the version of dkc',
    group: 'Around it',
    load: async () => (await import('./version.ts')).version,
  },
];
