import { runLong } from '../process/run.ts';
import { rightsFor } from './rights.ts';
import type { DaemonSetOptions } from '../../controllers/daemonset/types.ts';
import type { StatefulSetOptions } from '../../controllers/statefulset/types.ts';
import type { Log } from '../../base/log.ts';
import type { Runnable } from '../../kube/process/options.ts';
import type { Runtime } from '../../kube/process/runtime.ts';
import type { Context, Exit } from '../command.ts';
import type { ControllerName } from './names.ts';
import type { ControllersSettings } from './settings.ts';

/** How each controller is made. */
export interface Makers {
  daemonset: (runtime: Runtime, options: DaemonSetOptions) => Runnable;
  statefulset: (runtime: Runtime, options: StatefulSetOptions) => Runnable;
}

/** Runs controllers until the context's signal aborts. @see runLong */
export function runControllers(context: Context, settings: ControllersSettings, makers: Makers, serviceAccount?: string): Promise<Exit> {
  return runLong(context, settings, {
    command: 'controllers run',
    // In the server's audit log, and who reports on the lease.
    name: 'dkc-controllers',
    rights: rightsFor(settings),
    resyncMs: settings.resyncMs,
    setup: (runtime) => settings.controllers.map((name) => made(name, runtime, settings, makers)),
    announce: (log, server) => announce(log, settings, server),
    serviceAccount,
  });
}

function made(name: ControllerName, runtime: Runtime, settings: ControllersSettings, makers: Makers): Runnable {
  switch (name) {
    case 'daemonset':
      return makers.daemonset(runtime, settings.daemonSet);
    case 'statefulset':
      return makers.statefulset(runtime, settings.statefulSet);
  }
}

function announce(log: Log, { controllers, daemonSet, leaderElect, resyncMs }: ControllersSettings, server: string): void {
  log.info('starting controllers', {
    controllers: controllers.join(','),
    server,
    namespace: daemonSet.namespace ?? 'all',
    objectSelector: daemonSet.objectSelector ?? 'all',
    ...(controllers.includes('daemonset') ? { placement: daemonSet.placement } : {}),
    workers: daemonSet.workers,
    ...(resyncMs > 0 ? { resyncMs } : {}),
    lease: leaderElect === false ? 'none' : `${leaderElect.namespace}/${leaderElect.name}`,
  });
  if (leaderElect === false) log.warn('leader election is off: make sure that this is the only process for these objects');
}
