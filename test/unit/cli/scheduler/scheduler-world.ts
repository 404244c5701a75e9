import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runScheduler, type MakeScheduler } from '../../../../cli/scheduler/run.ts';
import { schedulerFlags } from '../../../../cli/scheduler/config.ts';
import { nodes, pods } from '../../../../kube/api/object.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { startLong, type Running } from '../process/long-world.ts';
import type { Command } from '../../../../cli/command.ts';
import { servedKinds, type ServedKinds } from '../../../../scheduler/scheduler.ts';
import type { SchedulerConfig } from '../../../../scheduler/config/config.ts';

/** What a scheduler that does nothing was told, and whether it is at work. */
export interface Seen {
  config?: SchedulerConfig;
  served?: ServedKinds;
  works?: boolean;
}

/** It reads pods and nodes, and schedules nothing. */
export const idle = (seen: Seen = {}): MakeScheduler => ({
  servedKinds,
  schedulerRunnable: ({ informers }, config, served) => {
    seen.config = config;
    seen.served = served;
    for (const kind of [pods, nodes]) informers.of(kind);
    const run = async (signal: AbortSignal): Promise<void> => {
      seen.works = true;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      seen.works = false;
    };
    return [{ name: 'scheduler', run }];
  },
});

/** `dkc scheduler run ARGV` in this process. */
export function start(
  t: TestContext,
  argv: readonly string[],
  { make = idle(), env = {}, serviceAccount }: { make?: MakeScheduler; env?: Record<string, string>; serviceAccount?: string } = {},
): Running {
  const run: Command['run'] = (context, args) => runScheduler(context, args, make, serviceAccount);
  const command = { describe: 'Schedules.', examples: [], flags: schedulerFlags, positionals: [], run };
  return startLong(t, { name: 'scheduler run', argv, command, env });
}

/** The path of a configuration file. */
export async function configFile(t: TestContext, text: string): Promise<string> {
  const path = join(await tempDir(t), 'config.yaml');
  await writeFile(path, text);
  return path;
}
