import { schedulerFlags, fileText, findingText, readSchedulerConfigFile } from './config.ts';
import { wrong, type Command, type Context, type Exit } from '../command.ts';
import { runLong } from '../process/run.ts';
import { processSettings, type ProcessSettings } from '../process/settings.ts';
import { schedulerRights } from './rights.ts';
import type { Log } from '../../base/log.ts';
import type { Runnable, Runtime } from '../../kube/process/contract.ts';
import type { Client } from '../../kube/client/client.ts';
import type { ServedKinds } from '../../scheduler/scheduler.ts';
import type { SchedulerConfig } from '../../scheduler/config/config.ts';
import type { Finding } from '../../kube/process/mapping.ts';
import type { Args } from '../args/args.ts';

const COMMAND = 'scheduler run';
/** Maximum number of queued events: a thousand pods may be bound per second. */
const WAITING_EVENTS = 10_000;

/** Constructors of the scheduler. */
export interface MakeScheduler {
  /** Which optional kinds the server serves. */
  servedKinds: (client: Client, signal: AbortSignal) => Promise<ServedKinds>;
  /** The scheduler's loops, with the caches that they need. */
  schedulerRunnable: (runtime: Runtime, config: SchedulerConfig, served: ServedKinds) => readonly Runnable[];
}

/**
 * Runs the scheduler until the context's signal aborts. An invalid configuration ends it with 1 before any request to the cluster.
 * @param serviceAccount - as in `runLong`
 * @throws {UsageError} for invalid flags; and what `runLong` throws
 */
export async function runScheduler(context: Context, args: Args, make: MakeScheduler, serviceAccount?: string): Promise<Exit> {
  const file = args.text('config');
  const read = await readSchedulerConfigFile(context, file);
  if (!read.ok) return wrong(wrongConfig(file, read.problems));
  const { config, warnings } = read;
  const settings = processSettings(COMMAND, args, config.leaderElection);
  const { leaderElect } = settings;
  return runLong(context, settings, {
    command: COMMAND,
    // User agent in the server's audit log, and reporting component of events about the lease.
    name: 'dkc-scheduler',
    rights: schedulerRights(config, leaderElect),
    pageSize: config.api.pageSize,
    writesAtOnce: config.api.maxInflightBinds + config.api.maxInflightStatus + config.api.maxInflightEvents,
    events: { capacity: WAITING_EVENTS, atOnce: config.api.maxInflightEvents },
    setup: {
      async discover(client, signal) {
        const served = await make.servedKinds(client, signal);
        return (runtime) => make.schedulerRunnable(runtime, config, served);
      },
    },
    announce: (log, server) => announce(log, { server, file, config, warnings, settings }),
    serviceAccount,
  });
}

function wrongConfig(file: string | undefined, [first, ...more]: readonly Finding[]): string {
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return `${COMMAND}: ${fileText(file)}: ${first === undefined ? '' : findingText(first)}${others}; run dkc scheduler config --config=${file} for all errors`;
}

interface Started {
  server: string;
  file: string | undefined;
  config: SchedulerConfig;
  warnings: readonly Finding[];
  settings: ProcessSettings;
}

function announce(log: Log, { server, file, config, warnings, settings: { leaderElect } }: Started): void {
  log.info('starting scheduler', {
    server,
    profiles: [...config.profiles.keys()].join(','),
    config: file === undefined || file === '' ? 'defaults' : fileText(file),
    preemption: config.preemption.enabled,
    reservation: config.reservation.enabled,
    extenders: config.extenders.length,
    lease: leaderElect === false ? 'none' : `${leaderElect.namespace}/${leaderElect.name}`,
  });
  for (const { path, message } of warnings) log.warn('suspicious configuration key', { key: path, why: message });
  if (leaderElect === false) log.warn('leader election is off: make sure that this is the only process for these scheduler names');
}

export const schedulerRun: Command = {
  describe: `Schedules pods: those whose spec.schedulerName is one of its profiles, \`default-scheduler\` unless the file names others. It runs beside kube-scheduler under its own scheduler names, or in its place. Of several processes the one that holds the lease works; the others stand by with synced caches.

Prints one line of JSON when all caches have synced and the lease is held: ready, the metrics address, and the pid. Until then it retries whatever fails; /readyz and the log show what it waits for. Exits with 0 on SIGTERM and SIGINT, and with 1 when the configuration is invalid or the lease is lost.`,
  examples: [
    { run: 'dkc scheduler run', what: 'in a pod, with its service account and all defaults' },
    {
      run: 'dkc scheduler run --config=/etc/dkc-scheduler/config.yaml --kubeconfig=/etc/dkc-scheduler/kubeconfig',
      what: 'as a systemd unit',
    },
    {
      run: 'dkc scheduler run --config=batch.yaml --leader-elect=false --debug',
      what: 'for an experiment; /debug shows queue and reservations',
    },
  ],
  flags: schedulerFlags,
  positionals: [],
  async run(context, args) {
    const { schedulerRunnable, servedKinds } = await import('../../scheduler/scheduler.ts');
    return runScheduler(context, args, { schedulerRunnable, servedKinds });
  },
};
