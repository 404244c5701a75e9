import { renderSchedulerConfig } from '../../scheduler/config/render.ts';
import { fine, wrong, type Command } from '../command.ts';
import { printable } from '../output/printable.ts';
import { jsonText, yamlText } from '../output/structured.ts';
import { configFlag, fileText, findingText, readSchedulerConfigFile } from './flags.ts';

export const schedulerConfig: Command = {
  describe: `Validates the configuration of \`dkc scheduler run\` and prints it with every key filled in. The output is an equivalent configuration file, except that TLS private keys are hidden.

Errors go to stderr, one per line; with errors, no configuration is printed and the exit code is 1. Settings that have no effect are warnings on stderr.`,
  examples: [
    { run: 'dkc scheduler config', what: 'the defaults, as a starting point' },
    { run: 'dkc scheduler config --config=batch.yaml', what: 'validate a file and print the result' },
    { run: 'dkc scheduler config --config=- -o json < batch.yaml', what: 'from standard input, for scripts' },
  ],
  flags: [
    { ...configFlag, text: 'YAML or JSON; - is standard input' },
    { name: 'output', alias: 'o', type: 'string', choices: ['yaml', 'json'], default: 'yaml', value: 'FORMAT', text: 'output format' },
  ],
  positionals: [],
  async run(context, args) {
    const file = args.text('config');
    const read = await readSchedulerConfigFile(context, file);
    const say = (what: string, text: string): void => context.stderr.write(`${what}: ${printable(text)}\n`);
    if (!read.ok) {
      for (const problem of read.problems) say('error', findingText(problem));
      return wrong(`scheduler config: ${fileText(file)} has ${counted(read.problems.length)}`);
    }
    for (const warning of read.warnings) say('warning', findingText(warning));
    const rendered = renderSchedulerConfig(read.config);
    context.stdout.write(args.text('output') === 'json' ? jsonText(rendered) : yamlText(rendered));
    return fine;
  },
};

const counted = (problems: number): string => (problems === 1 ? '1 error' : `${problems} errors`);
