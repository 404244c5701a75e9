import { ActionError, describeError } from '../../base/errors.ts';
import { createClient } from '../../kube/client/http-client.ts';
import { inClusterAccess, kubeconfigSource } from '../../kube/client/access.ts';
import { runProcess } from '../../kube/process/process.ts';
import { fine, wrong, type Context, type Exit } from '../command.ts';
import { RightsCheck, type Right } from './check-rights.ts';
import type { Log } from '../../base/log.ts';
import type { ProcessOptions } from '../../kube/process/contract.ts';
import type { ProcessSettings } from './settings.ts';

/** A command that goes on for long, beside what its flags say. */
export interface LongCommand extends Pick<ProcessOptions, 'name' | 'resyncMs' | 'pageSize' | 'writesAtOnce' | 'events' | 'setup'> {
  /** As typed after `dkc`. */
  command: string;
  /** All that it does. */
  rights: readonly Right[];
  /** The first line of the log, said before anything is known of the cluster: a reader of the log of a wrong start sees what it was started for. */
  announce: (log: Log, server: string) => void;
  /** Directory of the pod's service account, where there is no kubeconfig. @default where the kubelet mounts it */
  serviceAccount: string | undefined;
}

/**
 * Runs it until the context's signal aborts: 0. The ready line is the only thing on stdout.
 * @returns 1, with the reason, when the lease is lost or a part of it gives up
 * @throws {ActionError} when the access cannot be read or the metrics address not be had
 */
export async function runLong(context: Context, settings: ProcessSettings, what: LongCommand): Promise<Exit> {
  const { clock, random, signal, stdout, env } = context;
  const log = context.openLog({ level: settings.verbosity > 0 ? 'debug' : 'info', format: logFormat(settings.logFormat, env) });
  const { kubeconfig, leaderElect, metricsAddress, debug } = settings;
  const { command, rights: needed, announce, serviceAccount, ...options } = what;
  if (kubeconfig === undefined) refuseOutsideOfPods(command, env);
  const access =
    kubeconfig === undefined
      ? await inClusterAccess(env, serviceAccount)
      : kubeconfigSource(context.path(kubeconfig), { environment: env });
  const { server } = 'current' in access ? await access.current() : access;
  announce(log, server);
  if (kubeconfig === undefined && isSet(env['KUBECONFIG']))
    log.warn("ignoring $KUBECONFIG: without --kubeconfig the pod's service account is used", { KUBECONFIG: env['KUBECONFIG'] });
  // A separate connection: writes of the process pass only while it leads, and a standby should know as well.
  const client = createClient(access, { clock, random, log, userAgent: options.name });
  const rights = new RightsCheck(needed, { client, clock, log });
  const over = new AbortController();
  const checking = rights.run(AbortSignal.any([signal, over.signal]));
  let failure: { part: string; error: unknown } | undefined;
  try {
    const code = await runProcess(
      {
        ...options,
        ready: [rights.check],
        access,
        leaderElect,
        metricsAddress,
        debug,
        onReady: ({ metrics }) => stdout.write(`${JSON.stringify({ ready: true, metrics: metrics ?? null, pid: process.pid })}\n`),
        onFailed: (facts) => (failure = facts),
      },
      { clock, random, log, signal },
    );
    return code === 0 ? fine : wrong(`${command}: ${whyFailed(failure)}`);
  } finally {
    over.abort();
    await checking;
    await client.close();
  }
}

/** A cluster is not chosen by accident: a process that runs for months takes no kubeconfig out of somebody's shell. */
function refuseOutsideOfPods(command: string, env: Context['env']): void {
  if (isSet(env['KUBERNETES_SERVICE_HOST']) && isSet(env['KUBERNETES_SERVICE_PORT'])) return;
  const unused = isSet(env['KUBECONFIG']) ? `; dkc ${command} ignores $KUBECONFIG` : '';
  throw new ActionError('reach', 'the API server', {
    hint: `not running in a pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set); set --kubeconfig=FILE${unused}`,
  });
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== '';

function whyFailed(failure: { part: string; error: unknown } | undefined): string {
  return failure === undefined ? 'it failed; see its log' : `${failure.part}: ${describeError(failure.error)}; restart it`;
}

/** In the journal a level goes before each line; JSON is read elsewhere. */
export function logFormat(asked: 'text' | 'json', env: Context['env']): 'text' | 'json' | 'journald' {
  if (asked === 'json') return 'json';
  return env['JOURNAL_STREAM'] !== undefined || env['INVOCATION_ID'] !== undefined ? 'journald' : 'text';
}
