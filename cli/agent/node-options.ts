import { AGENT_CONFIG_FILE, type AgentOptions } from '../../agent/options.ts';
import { layout } from '../../agent/store/layout.ts';
import { agentFileFlag } from './flags.ts';
import { agentOptions, checkSettings, isForbidden, readAgentFile, SettingError, type Settings, settingsOf } from './settings.ts';
import { UsageError } from '../failure.ts';
import type { Args } from '../args/args.ts';
import type { Context, Note } from '../command.ts';

/**
 * The options of this node's agent, from the flags of a command and /etc/dkc/agent.yaml.
 * @throws {UsageError} for a flag, ActionError for the file
 */
export async function nodeOptions(context: OptionsContext, args: Args): Promise<AgentOptions> {
  return optionsWith(context, args, (path, required) => readAgentFile(context.disk, path, required));
}

/**
 * Like {@link nodeOptions}, for commands that diagnose: if the settings file cannot be read, the options are flags and defaults, and `problem` has the reason.
 * @throws {UsageError} for a flag
 */
export async function nodeOptionsOrDefaults(context: OptionsContext, args: Args): Promise<{ options: AgentOptions; problem?: unknown }> {
  try {
    return { options: await nodeOptions(context, args) };
  } catch (problem) {
    if (problem instanceof UsageError) throw problem;
    return { options: agentOptions(settingsOf(args, context), {}, context), problem };
  }
}

/**
 * Like {@link nodeOptions}, for commands on a file that may be for another machine: an agent.yaml that this user may not read is ignored, and `note`
 * reports this.
 */
export async function fileOptions(context: OptionsContext, args: Args): Promise<{ options: AgentOptions; note?: Note }> {
  let note: Note | undefined;
  const options = await optionsWith(context, args, async (path, required) => {
    try {
      return await readAgentFile(context.disk, path, required);
    } catch (error) {
      if (required || !isForbidden(error)) throw error;
      note = { level: 'note', text: `${path} is not used: permission denied` };
      return {};
    }
  });
  return note === undefined ? { options } : { options, note };
}

type OptionsContext = Pick<Context, 'disk' | 'path' | 'hostName'>;

async function optionsWith(
  context: OptionsContext,
  args: Args,
  read: (path: string, required: boolean) => Promise<Settings>,
): Promise<AgentOptions> {
  const flags = settingsOf(args, context);
  try {
    checkSettings(flags);
  } catch (error) {
    throw asUsage(error);
  }
  const named = args.text(agentFileFlag.name);
  const file = await read(named === undefined ? AGENT_CONFIG_FILE : context.path(named), named !== undefined);
  try {
    return await withRealDirectory(agentOptions(flags, file, context), context.disk);
  } catch (error) {
    throw asUsage(error);
  }
}

/**
 * The dynamic config directory may be a symbolic link: it is resolved once, here, since the store follows none. A dangling link stays
 * as it is: the agent and the commands on the store report it, other commands do not need the directory.
 */
async function withRealDirectory(options: AgentOptions, disk: Pick<Context['disk'], 'stat' | 'realPath'>): Promise<AgentOptions> {
  const { dynamicConfigDir, effectiveConfig } = options;
  const there = await disk.stat(dynamicConfigDir).catch(() => undefined);
  if (there?.kind !== 'other') return options;
  const real = await disk.realPath(dynamicConfigDir).catch(() => dynamicConfigDir);
  const isOwn = effectiveConfig === layout(dynamicConfigDir).effective;
  return { ...options, dynamicConfigDir: real, effectiveConfig: isOwn ? layout(real).effective : effectiveConfig };
}

function asUsage(error: unknown): unknown {
  if (!(error instanceof SettingError)) return error;
  const flag =
    error.key === 'nodeName' ? '--node-name (without it the host name)' : `--${error.key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;
  return new UsageError(`${flag} ${error.message}`);
}
