import { ActionError, errorCode, nearest } from '../../base/errors.ts';
import { type AgentFlag, agentFlags } from './flags.ts';
import { libraryLines, plainLines, type Written } from './settings-lines.ts';
import { checkSettings, SettingError, type Settings } from './options.ts';
import { flagValue } from '../args/flag-value.ts';
import type { ArgValue } from '../args/args.ts';
import type { Disk } from '../../base/disk.ts';

/** A settings file larger than this is none. */
const LARGEST = 256 * 1024;

/**
 * Reads /etc/dkc/agent.yaml.
 * @param required - whether somebody named this file: then it must be there
 * @throws {ActionError} naming file, key and remedy
 */
export async function readAgentFile(disk: Pick<Disk, 'readLinked'>, path: string, required: boolean): Promise<Settings> {
  let bytes: Uint8Array;
  try {
    bytes = await disk.readLinked(path, LARGEST);
  } catch (error) {
    if (!required && (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR')) return {};
    if (isForbidden(error)) throw new ActionError('read', path, { hint: 'permission denied: run this as root', cause: error });
    throw new ActionError('read', path, { hint: 'it must be a readable YAML file of at most 256 KiB', cause: error });
  }
  return parseAgentFile(Buffer.from(bytes).toString('utf8'), path);
}

/** Whether the file is there, and kept from this user. */
export function isForbidden(error: unknown): boolean {
  const code = errorCode(error instanceof ActionError ? error.cause : error);
  return code === 'EACCES' || code === 'EPERM';
}

/** The settings in the text of an agent.yaml. @throws {ActionError} naming file, key and remedy */
export function parseAgentFile(text: string, path: string): Settings {
  const settings: Partial<Record<AgentFlag['key'], ArgValue>> = {};
  for (const { name, scalar } of plainLines(text) ?? libraryLines(text, (problem, remedy) => unusable(path, problem, remedy))) {
    const flag = agentFlags.find((flag) => flag.key === name);
    if (!flag) throw unusable(path, `unknown key ${name}`, remedyFor(name));
    if (scalar === undefined) throw unusable(path, `${name} must have a scalar value`, 'write one ("" for empty), or remove the line');
    const read = flagValue(flag, plain(flag, scalar));
    if (!read.ok) throw unusable(path, `${name} ${read.problem}`, 'fix it or remove the line');
    if (read.value !== undefined) settings[flag.key] = read.value;
  }
  try {
    checkSettings(settings);
  } catch (error) {
    if (error instanceof SettingError) throw unusable(path, `${error.key} ${error.message}`, 'fix it or remove the line');
    throw error;
  }
  return settings;
}

/** Numbers of text settings are taken as they are written: `kubeletVersion: 1.30` is not 1.3. */
function plain(flag: AgentFlag, { value, source }: Written): unknown {
  const written = (flag.type === 'string' || flag.type === 'duration') && (typeof value === 'number' || typeof value === 'bigint');
  return written ? (source ?? String(value)) : value;
}

function remedyFor(name: string): string {
  const keys = agentFlags.map((flag) => flag.key);
  const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const meant = keys.find((key) => key === camel) ?? nearest(name, keys);
  return meant === undefined
    ? 'remove it; `dkc agent run --help` lists the flags, which are the keys in camelCase'
    : `did you mean ${meant}?`;
}

const unusable = (path: string, problem: string, remedy: string): ActionError =>
  new ActionError('use', path, { hint: `${problem}; ${remedy}` });
