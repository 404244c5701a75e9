import { isAbsolute, join } from 'node:path';
import { agentDefaults, type AgentOptions } from '../../agent/options.ts';
import { agentFlags, type AgentFlag } from './flags.ts';
import type { Args, ArgValue } from '../args/args.ts';

/** Settings by key, typed by their flag. */
export type Settings = Readonly<Partial<Record<keyof AgentOptions, ArgValue>>>;

/** A setting that cannot be: the caller says whose fault that is, the command line's or the file's. */
export class SettingError extends Error {
  override name = 'SettingError';
  readonly key: keyof AgentOptions;
  constructor(key: keyof AgentOptions, problem: string) {
    super(problem);
    this.key = key;
  }
}

export interface Host {
  /** As the system has it. */
  hostName: string;
  /** Makes a path of the command line absolute. */
  path(text: string): string;
}

/** What of the agent's settings a command line gave; flags that a command does not take are absent. */
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

/** @throws {SettingError} on the first setting that its flag's rule refuses */
export function checkSettings(settings: Settings): void {
  for (const flag of agentFlags) {
    const value = settings[flag.key];
    if (value === undefined || typeof value === 'boolean') continue;
    const problem = (flag.path && !isNone(flag, value) ? pathProblem(flag, String(value)) : undefined) ?? flag.check?.(value);
    if (problem !== undefined) throw new SettingError(flag.key, problem);
  }
}

function pathProblem(flag: AgentFlag, value: string): string | undefined {
  // An empty kubeconfig is how a flag takes back what the file says.
  if (value === '') return flag.key === 'kubeconfig' ? undefined : 'must not be empty';
  return isAbsolute(value) ? undefined : 'must be an absolute path';
}

/**
 * The options of an agent: flags win over the file, the file over the defaults.
 * Both sides must have passed {@link checkSettings}.
 * @throws {SettingError} when the host's name is no node name and nothing else names the node
 */
export function agentOptions(flags: Settings, file: Settings, host: Pick<Host, 'hostName'>): AgentOptions {
  const nodeName = flags.nodeName ?? file.nodeName ?? host.hostName.trim().toLowerCase();
  checkSettings({ nodeName });
  const merged: Record<string, ArgValue> = { ...agentDefaults, ...file, ...flags, nodeName };
  const dir = String(merged['dynamicConfigDir']);
  merged['effectiveConfig'] = flags.effectiveConfig ?? file.effectiveConfig ?? join(dir, 'kubelet.yaml');
  if (merged['kubeconfig'] === '') delete merged['kubeconfig'];
  // Each value has its flag's type, and each flag has its option's: the table is checked by the tests.
  return merged as unknown as AgentOptions;
}
