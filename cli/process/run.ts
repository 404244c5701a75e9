import { ActionError, describeError } from '../../base/errors.ts';
import { createClient } from '../../kube/client/http-client.ts';
import { inClusterAccess, kubeconfigSource } from '../../kube/client/access.ts';
import { runProcess } from '../../kube/process/process.ts';
import { fine, wrong, type Context, type Exit } from '../command.ts';
import { RightsCheck, type Right } from './check-rights.ts';
import type { Log } from '../../base/log.ts';
import { formatFor } from '../../base/line-log.ts';
import type { ProcessOptions } from '../../kube/process/contract.ts';
import type { ProcessSettings } from './settings.ts';

/** A long-running command: all that does not come from its flags. */
export interface LongCommand extends Pick<ProcessOptions, 'name' | 'resyncMs' | 'pageSize' | 'writesAtOnce' | 'events' | 'setup'> {
  /** Words after `dkc`. */
  command: string;
  /** All rights that it needs. */
  rights: readonly Right[];
  /** Logs the first line, before any request to the cluster: it shows the purpose of the process even if the start fails. */
  announce: (log: Log, server: string) => void;
  /** Directory of the pod's service account, used without a kubeconfig. @default the kubelet's mount path */
  serviceAccount: string | undefined;
}

/**
 * Runs the command until the context's signal aborts, then returns 0. The ready line is the only output on stdout.
 * @returns 1, with the reason, if the lease is lost or a part of the process fails
 * @throws {ActionError} if the kubeconfig cannot be read or the metrics address cannot be bound
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
  // A separate client: the client of the process writes only while leading, and a standby should check its rights too.
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

/** Outside of a pod --kubeconfig is required: a long-running process must not pick a cluster from the kubeconfig of the user's shell by accident. */
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

/** In the journal each text line starts with its level; JSON lines do not, since other programs parse them. */
export function logFormat(format: 'text' | 'json', env: Context['env']): 'text' | 'json' | 'journald' {
  return format === 'json' ? 'json' : formatFor(env);
}
