import { fine, type Command } from '../command.ts';
import { scripts, shells } from './scripts.ts';

export const completion: Command = {
  describe:
    'Prints the script that lets a shell complete commands, flags, their values, checkpoints of this node, and names of nodes, pods and sets.',
  examples: [
    { run: 'source <(dkc completion bash)', what: 'for this shell' },
    { run: 'dkc completion bash > /etc/bash_completion.d/dkc', what: 'for all of them' },
    { run: 'dkc completion zsh > "${fpath[1]}/_dkc"', what: 'zsh' },
    { run: 'dkc completion fish > ~/.config/fish/completions/dkc.fish', what: 'fish' },
  ],
  flags: [],
  positionals: [{ name: 'shell', text: 'which shell', required: true, choices: shells }],
  async run(context, args) {
    const shell = shells.find((shell) => shell === args.one('shell')) ?? 'bash';
    context.stdout.write(scripts[shell]);
    return fine;
  },
};
