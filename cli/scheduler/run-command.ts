import { schedulerFlags } from './flags.ts';
import { runScheduler } from './run.ts';
import type { Command } from '../command.ts';

export const schedulerRun: Command = {
  describe: `Schedules pods: those whose spec.schedulerName is one of its profiles, \`default-scheduler\` unless the file names others. It runs beside kube-scheduler under its own scheduler names, or in its place. Of several processes the one that holds the lease works; the others stand by with synced caches.

Prints one line of JSON when all caches have synced and the lease is held: ready, the metrics address, and the pid. Until then it retries whatever fails; /readyz and the log show what it waits for. Exits with 0 on SIGTERM and SIGINT, and with 1 when the configuration is invalid or the lease is lost.`,
  examples: [
    { run: 'dkc scheduler run', what: 'in a pod, with its service account and all defaults' },
    {
      run: 'dkc scheduler run --config=/etc/dkc-scheduler/config.yaml --kubeconfig=/etc/dkc-scheduler/kubeconfig',
      what: 'as a systemd unit',
    },
    { run: 'dkc scheduler run --config=batch.yaml --leader-elect=false --debug', what: 'for a try; /debug shows queue and reservations' },
  ],
  flags: schedulerFlags,
  positionals: [],
  async run(context, args) {
    const { schedulerRunnable, servedKinds } = await import('../../scheduler/scheduler.ts');
    return runScheduler(context, args, { schedulerRunnable, servedKinds });
  },
};
