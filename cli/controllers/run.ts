import { runLong } from '../process/run.ts';
import { type ControllersSettings, pageOptions, prometheusServers } from './settings.ts';
import { rightsFor } from './rights.ts';
import type { DaemonSetOptions, StatefulSetOptions } from '../../controllers/common/types.ts';
import { ActionError } from '../../base/errors.ts';
import { installCommand } from '../../agent/status/choose-carrier.ts';
import { serverFacts, type ServerFacts } from '../../controllers/fleet/server-facts.ts';
import { rollouts } from '../../controllers/rollout/types.ts';
import type { PageOptions } from '../../controllers/page/page.ts';
import type { RolloutOptions } from '../../controllers/rollout/observe.ts';
import { type Client, servesResource } from '../../kube/client/client.ts';
import type { Log } from '../../base/log.ts';
import type { ProcessOptions, Runnable, Runtime } from '../../kube/process/contract.ts';
import type { Context, Exit } from '../command.ts';

/** Constructors of the controllers. */
export interface Makers {
  daemonset: (runtime: Runtime, options: DaemonSetOptions) => Runnable;
  statefulset: (runtime: Runtime, options: StatefulSetOptions) => Runnable;
  rollout: (runtime: Runtime, options: RolloutOptions & { serves: ServerFacts }) => Runnable;
  page: (runtime: Runtime, options: PageOptions) => Runnable;
}

/** Runs controllers until the context's signal aborts. @see runLong */
export async function runControllers(
  context: Context,
  settings: ControllersSettings,
  makers: Makers,
  serviceAccount?: string,
): Promise<Exit> {
  const page = settings.page === undefined ? undefined : await pageOptions(context, settings.page);
  const servers = await prometheusServers(context, settings.prometheusConfig);
  return runLong(context, settings, {
    command: 'controllers run',
    // User agent in the server's audit log, and reporting component of events about the lease.
    name: 'dkc-controllers',
    rights: rightsFor(settings),
    resyncMs: settings.resyncMs,
    setup: setupOf({ ...settings, rollout: { ...settings.rollout, prometheusServers: servers } }, makers, page),
    announce: (log, server) => announce(log, settings, server),
    serviceAccount,
  });
}

/** The rollout controller first asks the server what it serves; the other controllers need no such facts. */
function setupOf(settings: ControllersSettings, makers: Makers, page: Omit<PageOptions, 'serves'> | undefined): ProcessOptions['setup'] {
  const { controllers } = settings;
  const sets = (runtime: Runtime): Runnable[] => [
    ...(controllers.includes('daemonset') ? [makers.daemonset(runtime, settings.daemonSet)] : []),
    ...(controllers.includes('statefulset') ? [makers.statefulset(runtime, settings.statefulSet)] : []),
  ];
  if (!controllers.includes('rollout')) return sets;
  return {
    discover: async (client, signal) => {
      const serves = await rolloutFacts(client, signal);
      const pages = (runtime: Runtime): Runnable[] =>
        page === undefined ? [] : [makers.page(runtime, { ...page, ...settings.rollout, serves })];
      return (runtime) => [...sets(runtime), makers.rollout(runtime, { ...settings.rollout, serves }), ...pages(runtime)];
    },
  };
}

/** @throws {ActionError} where the server does not serve rollouts: the caller retries, and readiness reports the reason */
async function rolloutFacts(client: Client, signal: AbortSignal): Promise<ServerFacts> {
  const [facts, isServed] = await Promise.all([serverFacts(client, signal), servesResource(client, rollouts, signal)]);
  if (!isServed)
    throw new ActionError('run', 'the rollout controller', {
      hint: `the API server does not serve ${rollouts.kind}s; to install them: ${installCommand(facts.version)}`,
    });
  return facts;
}

function announce(log: Log, { controllers, daemonSet, rollout, leaderElect, resyncMs }: ControllersSettings, server: string): void {
  log.info('starting controllers', {
    controllers: controllers.join(','),
    server,
    namespace: daemonSet.namespace ?? 'all',
    objectSelector: daemonSet.objectSelector ?? 'all',
    ...(controllers.includes('daemonset') ? { placement: daemonSet.placement } : {}),
    ...(controllers.includes('rollout')
      ? { rolloutNamespace: rollout.configMapNamespace, rolloutMaxUnavailable: rollout.maxUnavailable ?? 'none' }
      : {}),
    workers: daemonSet.workers,
    ...(resyncMs > 0 ? { resyncMs } : {}),
    lease: leaderElect === false ? 'none' : `${leaderElect.namespace}/${leaderElect.name}`,
  });
  if (leaderElect === false) log.warn('leader election is off: make sure that this is the only process for these objects');
}
