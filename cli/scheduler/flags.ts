import { defaultSchedulerConfig } from '../../scheduler/config/config.ts';
import { parseSchedulerConfig, type ConfigRead } from '../../scheduler/config/parse.ts';
import { readConfigFile } from '../config/config-file.ts';
import { kubeconfigFlag, leaseFlags, servingFlags } from '../process/settings.ts';
import type { Finding } from '../../scheduler/config/mapping.ts';
import type { Context, Flag } from '../command.ts';

export const configFlag: Flag = {
  name: 'config',
  type: 'string',
  value: 'FILE',
  completes: 'file',
  text: 'configuration file, YAML or JSON; every key is optional',
  defaultText: 'all defaults',
};

/** Those of the lease go before the file, so they have no value unless somebody gives one. */
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

/** How a file is called on the command line. */
export const fileText = (file: string | undefined): string => (file === '-' ? 'standard input' : (file ?? ''));
