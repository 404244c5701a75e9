import { exitCodeOf, failureText, UsageError } from './failure.ts';
import { commandsBelow, findCommand } from './find-command.ts';
import { overview } from './overview.ts';
import { parse } from './parse.ts';
import { printable } from './printable.ts';
import type { Context } from './command.ts';
import type { Entry } from './commands.ts';

/** Without a terminal help is this wide. */
const HELP_WIDTH = 100;

/** Runs one command line. Never throws: @returns the exit code of design 7, with its one line on stderr where it is not 0. */
export async function dispatch(entries: readonly Entry[], argv: readonly string[], context: Context): Promise<number> {
  let verbose = (context.env['DKC_DEBUG'] ?? '') !== '';
  try {
    const found = findCommand(entries, helpAsFlag(argv));
    switch (found.at) {
      case 'unknown': {
        const hint = found.suggestion === undefined ? 'dkc help lists all' : `did you mean dkc ${found.suggestion}?`;
        throw new UsageError(`there is no command ${JSON.stringify(found.words)}; ${hint}`);
      }
      case 'group': {
        const [flag] = found.rest;
        if (flag === '--version') return await dispatch(entries, ['version'], context);
        const asked = flag === '--help' || flag === '-h';
        if (!asked && flag !== undefined) throw new UsageError(`the command comes first, then ${printable(flag)}; dkc help lists all`);
        const text = overview(entries, found.prefix);
        if (asked) context.stdout.write(text);
        else context.stderr.write(text);
        return asked ? 0 : 2;
      }
      case 'command': {
        const command = await found.entry.load();
        const below = commandsBelow(entries, found.entry.name);
        const parsed = await parse({ ...found.entry, below }, command, found.rest, context.stdout.columns ?? HELP_WIDTH);
        if (parsed.want === 'help') {
          context.stdout.write(parsed.text);
          return 0;
        }
        verbose ||= parsed.verbose;
        const exit = await command.run(context, parsed.args);
        if (exit.code === 1) context.stderr.write(`dkc: ${printable(exit.why)}\n`);
        return exit.code;
      }
    }
  } catch (error) {
    context.stderr.write(failureText(error, verbose));
    return exitCodeOf(error);
  }
}

/** `dkc help checkpoints list` is `dkc checkpoints list --help`. */
function helpAsFlag(argv: readonly string[]): readonly string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
}
