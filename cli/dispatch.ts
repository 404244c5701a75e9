import { exitCodeOf, failureText, Interrupted, UsageError } from './failure.ts';
import { commandsBelow, findCommand } from './help/find-command.ts';
import { leadingFlags } from './args/leading-flags.ts';
import { checkFormat } from './output/output.ts';
import { overview } from './help/overview.ts';
import { parse } from './args/parse.ts';
import { printable } from './output/printable.ts';
import { spokenAs } from './help/program.ts';
import type { Context } from './command.ts';
import type { Entry } from './commands.ts';

/** Without a terminal help is this wide. */
const HELP_WIDTH = 100;

/** Runs one command line. Never throws: @returns the exit code of design 7, with its one line on stderr where it is not 0. */
export async function dispatch(entries: readonly Entry[], argv: readonly string[], world: Context): Promise<number> {
  const words = new Set(['COMMAND', 'help', ...entries.map(({ name }) => name.split(' ')[0] ?? '')]);
  const said = (text: string): string => spokenAs(world.program, words, text);
  let verbose = (world.env['DKC_DEBUG'] ?? '') !== '';
  try {
    const { leading, following } = leadingFlags(helpAsFlag(argv));
    const found = findCommand(entries, following);
    switch (found.at) {
      case 'unknown': {
        const hint = found.suggestion === undefined ? 'see dkc help' : `did you mean dkc ${found.suggestion}?`;
        throw new UsageError(`unknown command ${JSON.stringify(found.words)}; ${hint}`);
      }
      case 'group': {
        const [flag] = found.rest;
        if (flag === '--version') return await dispatch(entries, ['version'], world);
        const asked = flag === '--help' || flag === '-h';
        if (!asked && flag !== undefined) throw new UsageError(`flags go after the command: dkc COMMAND ${printable(flag)}; see dkc help`);
        const text = said(overview(entries, found.prefix));
        if (asked) world.stdout.write(text);
        else world.stderr.write(text);
        return asked ? 0 : 2;
      }
      case 'command': {
        const command = await found.entry.load();
        const below = commandsBelow(entries, found.entry.name);
        const rest = [...leading, ...found.rest];
        const parsed = await parse({ ...found.entry, below }, command, rest, world.stdout.columns ?? HELP_WIDTH);
        if (parsed.want === 'help') {
          world.stdout.write(said(parsed.text));
          return 0;
        }
        verbose ||= parsed.verbose;
        await checkFormat(parsed.args);
        const exit = await command.run(world, parsed.args);
        if (exit.code === 1) world.stderr.write(`dkc: ${printable(exit.why)}\n`);
        return exit.code;
      }
    }
  } catch (error) {
    // Whatever else an interrupted command complains of: the person asked for its end.
    const cause: unknown = world.signal.aborted && world.signal.reason instanceof Interrupted ? world.signal.reason : error;
    world.stderr.write(cause instanceof UsageError ? said(failureText(cause, verbose)) : failureText(cause, verbose));
    return exitCodeOf(cause);
  }
}

/** `dkc help checkpoints list` is `dkc checkpoints list --help`. */
function helpAsFlag(argv: readonly string[]): readonly string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
}
