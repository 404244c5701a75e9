import { defaultSchedulerConfig } from '../../scheduler/config/defaults.ts';
import { parseSchedulerConfig, type ConfigRead } from '../../scheduler/config/parse.ts';
import { readConfigFile } from '../config/config-file.ts';
import type { Finding } from '../../scheduler/config/mapping.ts';
import type { Context } from '../command.ts';

/** @param file - as given: undefined or '' for all defaults, `-` for standard input. @throws {ActionError} when it cannot be read */
export async function readSchedulerConfigFile(context: Context, file: string | undefined): Promise<ConfigRead> {
  if (file === undefined || file === '') return { ok: true, config: defaultSchedulerConfig, warnings: [] };
  return parseSchedulerConfig(Buffer.from(await readConfigFile(context, file)).toString('utf8'));
}

/** `reservation.ttlSeconds: it is 0; it must be ...`. */
export const findingText = ({ path, message }: Finding): string => (path === '' ? message : `${path}: ${message}`);

/** How a file is called on the command line. */
export const fileText = (file: string | undefined): string => (file === '-' ? 'standard input' : (file ?? ''));
