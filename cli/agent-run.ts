import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { openLog } from '../base/pino-log.ts';
import { realDisk } from '../base/real-disk.ts';
import { runFlags } from './agent-command.ts';
import { UsageError, failureText, USAGE } from './failure.ts';
import { nodeOptions } from './node-options.ts';
import { plainFlags } from './plain-flags.ts';
import type { AgentOptions } from '../agent/options.ts';
import type { Log } from '../base/log.ts';
import type { Args } from './args.ts';

/** `dkc agent run ARGV`. @returns 0 = start me again, 2 = bad flags, anything else 1 (design 7) */
export async function agentRun(argv: readonly string[]): Promise<number> {
  const debug = (process.env['DKC_DEBUG'] ?? '') !== '';
  try {
    return await runWith(plainFlags('agent run', runFlags, argv));
  } catch (error) {
    process.stderr.write(failureText(error, debug));
    return error instanceof UsageError ? USAGE : 1;
  }
}

/** The same with flags that are read already. */
export async function runWith(args: Args): Promise<number> {
  const cwd = process.cwd();
  const host = { disk: realDisk, hostName: hostname(), path: (text: string) => resolve(cwd, text) };
  const options = await nodeOptions(host, args);
  const log = agentLog(options);
  return args.on('once') ? await boot(options, log, args.text('output') ?? 'table') : await run(options, log);
}

/** To the journal where systemd started us, else for a terminal. */
function agentLog(options: AgentOptions): Log {
  const underSystemd = process.env['JOURNAL_STREAM'] !== undefined || process.env['INVOCATION_ID'] !== undefined;
  return openLog({ level: options.verbosity > 0 ? 'debug' : 'info', format: underSystemd ? 'journald' : 'text' });
}

async function boot(options: AgentOptions, log: Log, output: string): Promise<number> {
  log.error('boot is not wired yet', { dir: options.dynamicConfigDir, output });
  return 1;
}

async function run(options: AgentOptions, log: Log): Promise<number> {
  log.error('the agent is not wired yet', { dir: options.dynamicConfigDir });
  return 1;
}
