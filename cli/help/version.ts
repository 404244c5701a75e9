import { fine } from '../command.ts';
import { formatFlag, show } from '../output/output.ts';
import type { Command } from '../command.ts';

export const version: Command = {
  describe: 'Prints the version of dkc, the commit it was built from and the Node.js it runs on.',
  examples: [
    { run: 'dkc version', what: 'for people' },
    { run: 'dkc version -o json', what: 'for scripts' },
  ],
  flags: [formatFlag],
  positionals: [],
  async run(context, args) {
    const { version, commit, node } = context.build;
    await show(context, args, { data: { version, commit, node }, people: () => `dkc ${version} (${commit}), Node.js ${node}\n` });
    return fine;
  },
};
