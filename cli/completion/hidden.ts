import { fine, type Command } from '../command.ts';
import { commands } from '../commands.ts';
import { printable } from '../output/printable.ts';
import { askWorld } from './ask.ts';
import { complete } from './candidates.ts';
import { splitLine } from './words.ts';

/** What the scripts of `dkc completion` call: one candidate a line, a tab before its text, `:file` or `:dir` last where files fit. */
export const completeCommand: Command = {
  describe: 'Prints what fits at the end of a command line.',
  examples: [{ run: "dkc __complete 'dkc checkpoints sh'", what: 'show' }],
  flags: [],
  positionals: [{ name: 'line', text: 'the line up to the cursor', required: true }],
  async run(context, args) {
    const [, ...words] = splitLine(args.one('line') ?? '');
    const { candidates, files } = await complete(commands, words, askWorld(context));
    const lines = candidates.map(({ value, text }) => (text === '' ? printable(value) : `${printable(value)}\t${printable(text)}`));
    if (files !== undefined) lines.push(`:${files}`);
    context.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return fine;
  },
};
