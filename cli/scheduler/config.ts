import { renderSchedulerConfig } from '../../scheduler/config/render.ts';
import { type Command, type Context, fine, type Flag, wrong } from '../command.ts';
import { printable, jsonText, yamlText } from '../output/printable.ts';
import { defaultSchedulerConfig } from '../../scheduler/config/config.ts';
import { type ConfigRead, parseSchedulerConfig } from '../../scheduler/config/parse.ts';
import { readConfigFile } from '../config/config-file.ts';
import { kubeconfigFlag, leaseFlags, servingFlags } from '../process/settings.ts';
import type { Finding } from '../../kube/process/mapping.ts';

export const configFlag: Flag = {
  name: 'config',
  type: 'string',
  value: 'FILE',
  completes: 'file',
  text: 'configuration file, YAML or JSON; every key is optional',
  defaultText: 'all defaults',
};

/** Lease flags override the file, so they have no default: absent flags leave the value of the file. */
const leaseFlagsOverFile = leaseFlags('dkc-scheduler').map(({ default: normal, ...flag }): Flag => ({
  ...flag,
  defaultText: `as leaderElection in the file says, else ${String(normal)}`,
}));

/** Flags of `dkc scheduler run`. */
export const schedulerFlags: readonly Flag[] = [configFlag, kubeconfigFlag, ...leaseFlagsOverFile, ...servingFlags(10_462)];

/** @param file - as given: undefined or '' for all defaults, `-` for standard input. @throws {ActionError} when it cannot be read */
export async function readSchedulerConfigFile(context: Context, file: string | undefined): Promise<ConfigRead> {
  if (file === undefined || file === '') return { ok: true, config: defaultSchedulerConfig, warnings: [] };
  return parseSchedulerConfig(Buffer.from(await readConfigFile(context, file)).toString('utf8'));
}

/** `reservation.ttlSeconds: it is 0; it must be ...`. */
export const findingText = ({ path, message }: Finding): string => (path === '' ? message : `${path}: ${message}`);

/** Name of the configuration file for messages. */
export const fileText = (file: string | undefined): string => (file === '-' ? 'standard input' : (file ?? ''));

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
