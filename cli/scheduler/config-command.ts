import { renderSchedulerConfig } from '../../scheduler/config/render.ts';
import { fine, wrong, type Command } from '../command.ts';
import { printable } from '../printable.ts';
import { jsonText, yamlText } from '../structured.ts';
import { configFlag } from './flags.ts';
import { fileText, findingText, readSchedulerConfigFile } from './read-config.ts';

export const schedulerConfig: Command = {
  describe: `Prints the configuration that \`dkc scheduler run\` would work by, with every key in it: what it prints is a file of the same meaning, but for a key of TLS, which is hidden.

Everything that is wrong is on stderr, a line each, and nothing is printed then (exit code 1). So is what is taken and has no effect, which is no error.`,
  examples: [
    { run: 'dkc scheduler config', what: 'the defaults, to begin with' },
    { run: 'dkc scheduler config --config=batch.yaml', what: 'is it right, and what does it come to?' },
    { run: 'dkc scheduler config --config=- -o json < batch.yaml', what: 'from standard input, for scripts' },
  ],
  flags: [
    { ...configFlag, text: 'YAML or JSON; - is standard input' },
    { name: 'output', alias: 'o', type: 'string', choices: ['yaml', 'json'], default: 'yaml', value: 'FORMAT', text: 'how to print it' },
  ],
  positionals: [],
  async run(context, args) {
    const file = args.text('config');
    const read = await readSchedulerConfigFile(context, file);
    const say = (what: string, text: string): void => context.stderr.write(`${what}: ${printable(text)}\n`);
    if (!read.ok) {
      for (const problem of read.problems) say('wrong', findingText(problem));
      return wrong(`scheduler config: ${fileText(file)} has ${counted(read.problems.length)}`);
    }
    for (const warning of read.warnings) say('warning', findingText(warning));
    const rendered = renderSchedulerConfig(read.config);
    context.stdout.write(args.text('output') === 'json' ? jsonText(rendered) : yamlText(rendered));
    return fine;
  },
};

const counted = (problems: number): string => (problems === 1 ? 'a mistake' : `${problems} mistakes`);
