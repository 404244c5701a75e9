import { ActionError, describeError, errorCode, nearest, PERMISSION_DENIED } from '../../base/errors.ts';
import { type AgentFlag, agentFlags } from './flags.ts';
import { type Args, type ArgValue, flagValue } from '../args/args.ts';
import type { Disk } from '../../base/disk.ts';
import { isMap, isScalar, parseDocument, type Scalar } from 'yaml';
import { isAbsolute, join } from 'node:path';
import { agentDefaults, type AgentOptions } from '../../agent/options.ts';

/** Settings by key, typed by their flag. */
export type Settings = Readonly<Partial<Record<keyof AgentOptions, ArgValue>>>;

/** An invalid setting. The caller adds where the setting comes from: the command line or the file. */
export class SettingError extends Error {
  override name = 'SettingError';
  readonly key: keyof AgentOptions;
  constructor(key: keyof AgentOptions, problem: string) {
    super(problem);
    this.key = key;
  }
}

interface Host {
  /** As the operating system reports it. */
  hostName: string;
  /** Makes a path of the command line absolute. */
  path(text: string): string;
}

/** The agent's settings that the command line sets; flags that the command does not declare are absent. */
export function settingsOf(args: Args, host: Host): Settings {
  const given = agentFlags.flatMap((flag) => {
    const value = args.has(flag.name) ? args.value(flag.name) : undefined;
    return value === undefined ? [] : [[flag.key, absolute(flag, value, host)] as const];
  });
  return Object.fromEntries(given);
}

function absolute(flag: AgentFlag, value: ArgValue, host: Host): ArgValue {
  return flag.path && typeof value === 'string' && value !== '' && !isNone(flag, value) ? host.path(value) : value;
}

const isNone = (flag: AgentFlag, value: ArgValue): boolean => flag.key === 'policy' && value === 'none';

/** @throws {SettingError} for the first setting that fails the check of its flag */
export function checkSettings(settings: Settings): void {
  for (const flag of agentFlags) {
    const value = settings[flag.key];
    if (value === undefined || typeof value === 'boolean') continue;
    const problem = (flag.path && !isNone(flag, value) ? pathProblem(flag, String(value)) : undefined) ?? flag.check?.(value);
    if (problem !== undefined) throw new SettingError(flag.key, problem);
  }
}

function pathProblem(flag: AgentFlag, value: string): string | undefined {
  // An empty kubeconfig flag overrides the one in the file.
  if (value === '') return flag.key === 'kubeconfig' ? undefined : 'must not be empty';
  return isAbsolute(value) ? undefined : 'must be an absolute path';
}

/**
 * The options of an agent: flags win over the file, the file over the defaults.
 * Both sides must have passed {@link checkSettings}.
 * @throws {SettingError} if no setting names the node and the host name is not a valid node name
 */
export function agentOptions(flags: Settings, file: Settings, host: Pick<Host, 'hostName'>): AgentOptions {
  const nodeName = flags.nodeName ?? file.nodeName ?? host.hostName.trim().toLowerCase();
  checkSettings({ nodeName });
  const merged: Record<string, ArgValue> = { ...agentDefaults, ...file, ...flags, nodeName };
  const dir = String(merged['dynamicConfigDir']);
  merged['effectiveConfig'] = flags.effectiveConfig ?? file.effectiveConfig ?? join(dir, 'kubelet.yaml');
  if (merged['kubeconfig'] === '') delete merged['kubeconfig'];
  // Each value has the type of its flag, and each flag the type of its option: tests check the table.
  return merged as unknown as AgentOptions;
}

/** Maximum size of a settings file, in bytes. */
const LARGEST = 256 * 1024;

/**
 * Reads /etc/dkc/agent.yaml.
 * @param required - the user named this file, so it must exist
 * @throws {ActionError} naming file, key and remedy
 */
export async function readAgentFile(disk: Pick<Disk, 'readLinked'>, path: string, required: boolean): Promise<Settings> {
  let bytes: Uint8Array;
  try {
    bytes = await disk.readLinked(path, LARGEST);
  } catch (error) {
    if (!required && (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR')) return {};
    if (isForbidden(error)) throw new ActionError('read', path, { hint: PERMISSION_DENIED, cause: error });
    throw new ActionError('read', path, { hint: 'it must be a readable YAML file of at most 256 KiB', cause: error });
  }
  return parseAgentFile(Buffer.from(bytes).toString('utf8'), path);
}

/** Whether the file exists, but this user may not read it. */
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

/** The value of a text setting is its source text, even if it is a number: `kubeletVersion: 1.30` is not 1.3. */
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

/** One line of the file. */
interface Setting {
  name: string;
  /** undefined if the value is null or not a scalar. */
  scalar: Written | undefined;
}

type Written = Pick<Scalar, 'value' | 'source'>;

/**
 * A key with a word, a number, or a text in quotes: all readers of YAML agree on these. The length of a time such as `1m30s` and an address such as
 * `127.0.0.1:10460` are words, though they begin with a digit.
 */
const PLAIN_LINE =
  /^([a-z][A-Za-z]*): +(?:"([^"\\]*)"|'([^']*)'|(true|false)|(0|[1-9][0-9]{0,14})|(?!(?:null|Null|NULL|True|TRUE|False|FALSE)(?: |$))([A-Za-z/][A-Za-z0-9_./@-]*(?::[A-Za-z0-9_./@-]+)*|(?:[0-9]+(?:h|m|s|ms))+|[0-9]+(?:\.[0-9]+){3}:[0-9]+)) *(?:(?<= )#.*)?$/;

/**
 * Parses the usual agent.yaml without the YAML library: loading the library took a tenth of the CPU time of an agent's start.
 * @returns undefined for a text that needs the library: it has other lines, or may be invalid
 */
export function plainLines(text: string): Setting[] | undefined {
  if (/[^\n -~]/.test(text)) return undefined;
  const read = new Map<string, Setting>();
  for (const line of text.split('\n')) {
    if (/^ *(?:#.*)?$/.test(line)) continue;
    const [, name, double, single, boolean, number, word] = PLAIN_LINE.exec(line) ?? [];
    if (name === undefined || read.has(name)) return undefined;
    const value = boolean === undefined ? (double ?? single ?? word ?? Number(number)) : boolean === 'true';
    read.set(name, { name, scalar: { value, ...(number === undefined ? {} : { source: number }) } });
  }
  return [...read.values()];
}

/**
 * Like {@link plainLines}, for any YAML text.
 * @param refuse - creates the error for a text that is not a mapping
 */
export function libraryLines(text: string, refuse: (problem: string, remedy: string) => Error): Setting[] {
  const document = parseDocument(text, { uniqueKeys: true, logLevel: 'silent' });
  const [problem] = document.errors;
  if (problem) throw refuse(firstLine(describeError(problem)), 'fix it');
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) return [];
  if (!isMap(root)) throw refuse('it is not a YAML mapping', 'see `dkc agent run --help` for the keys');
  return root.items.map(({ key, value }) => ({
    name: isScalar(key) ? String(key.value) : '?',
    scalar: isScalar(value) && value.value !== null ? value : undefined,
  }));
}

const firstLine = (text: string): string => text.split('\n')[0] ?? text;
