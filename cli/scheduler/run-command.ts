import { schedulerFlags } from './flags.ts';
import { runScheduler } from './run.ts';
import type { Command } from '../command.ts';

export const schedulerRun: Command = {
  describe: `Schedules pods: those whose spec.schedulerName is one of its profiles, \`default-scheduler\` unless the file names others. It runs beside kube-scheduler under names of its own, or in its place. Of several processes the one that holds the lease works; the others stand by with full caches.

Prints one line of JSON when every cache is filled and the lease is held: ready, the address of its metrics, and its pid. Until then it waits, and tries again what fails; /readyz and the log say what it waits for. Ends with 0 on SIGTERM and SIGINT, with 1 when the configuration is wrong or the lease is lost.`,
  examples: [
    { run: 'dkc scheduler run', what: 'in a pod, by its service account, with all defaults' },
    { run: 'dkc scheduler run --config=/etc/dkc-scheduler/config.yaml --kubeconfig=/etc/dkc-scheduler/kubeconfig', what: 'as a unit' },
    { run: 'dkc scheduler run --config=batch.yaml --leader-elect=false --debug', what: 'to try it; /debug shows queue and kept room' },
  ],
  flags: schedulerFlags,
  positionals: [],
  async run(context, args) {
    const { schedulerRunnable, servedKinds } = await import('../../scheduler/scheduler.ts');
    return runScheduler(context, args, { schedulerRunnable, servedKinds });
  },
};
