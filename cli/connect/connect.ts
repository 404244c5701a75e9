import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ActionError, errorCode } from '../../base/errors.ts';
import { createClient } from '../../kube/client/http-client.ts';
import { type ClusterAccess, kubeletAccess, loadKubeconfig } from '../../kube/client/access.ts';
import { UsageError } from '../failure.ts';
import type { ConnectQuery } from '../command.ts';
import type { Client } from '../../kube/client/client.ts';

/** A client for the API server that the kubeconfig names. @throws {ActionError} where there is none, or it cannot be used */
export async function connect(query: ConnectQuery, env: Environment): Promise<Client> {
  const { requestTimeoutMs: timeoutMs } = query;
  return createClient(await accessOf(query, env), {
    userAgent: 'dkc-cli',
    ...(timeoutMs === undefined ? {} : { timeoutMs: Math.min(timeoutMs, NO_LIMIT_MS) }),
  });
}

/** The namespace of the context that the kubeconfig names; undefined where it has none. @throws {ActionError} as {@link connect} */
export async function namespaceOf(query: ConnectQuery, env: Environment): Promise<string | undefined> {
  return (await accessOf(query, env)).namespace;
}

/** A year: no command runs for as long. */
const NO_LIMIT_MS = 365 * 86_400_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What the kubeconfig says, with nothing opened yet. Each flag of impersonation goes before its field there, and the other fields stay, as with kubectl.
 * @throws {ActionError} as {@link connect}; UsageError for groups or a uid where neither names a user
 */
export async function accessOf(query: ConnectQuery, env: Environment): Promise<ClusterAccess> {
  const paths = kubeconfigPaths(query, env);
  const found = await Promise.all(paths.map(exists));
  if (!found.includes(true))
    throw new ActionError('use kubeconfig', paths[0] ?? '', { hint: 'no such file; set --kubeconfig or $KUBECONFIG' });
  const { context, as, asGroups: groups, asUid: uid } = query;
  const access = await loadKubeconfig(paths, {
    ...(context === undefined ? {} : { context }),
    ...(as === undefined ? {} : { as }),
    environment: env,
  });
  const asked = { ...(groups === undefined ? {} : { groups }), ...(uid === undefined ? {} : { uid }) };
  if (access.impersonate !== undefined) return { ...access, impersonate: { ...access.impersonate, ...asked } };
  // kubectl's words.
  if (Object.keys(asked).length > 0) throw new UsageError('--as-group and --as-uid require --as');
  return access;
}

/** The flag's file; else those of $KUBECONFIG, which count as one; else the one at home. */
export function kubeconfigPaths({ kubeconfig }: ConnectQuery, env: Readonly<Record<string, string | undefined>>): string[] {
  if (kubeconfig !== undefined) return [kubeconfig];
  const paths = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  return paths.length > 0 ? paths : [join(env['HOME'] ?? homedir(), '.kube', 'config')];
}

/** One that may not be reached is no missing one: what reads it says so. */
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR',
  );

/** In ms: it asks the API server who we are before it answers. */
const KUBELET_TIMEOUT_MS = 10_000;

/** As large as a configuration from the command line may be. */
const MAX_CONFIGZ_BYTES = 4 * 1024 * 1024;

/** What a kubelet's own port answers, asked as the identity of a kubeconfig. @throws {ActionError} for the kubeconfig, and what a Client throws */
export async function askKubelet(
  url: string,
  as: { kubeconfig: string; nodeName: string; userAgent: string; signal?: AbortSignal },
): Promise<unknown> {
  const client = createClient(kubeletAccess(await loadKubeconfig(as.kubeconfig), url, as.nodeName), {
    userAgent: as.userAgent,
    largestList: MAX_CONFIGZ_BYTES,
  });
  const { pathname, search } = new URL(url);
  try {
    return await client.raw('GET', `${pathname}${search}`, {
      timeoutMs: KUBELET_TIMEOUT_MS,
      ...(as.signal === undefined ? {} : { signal: as.signal }),
    });
  } finally {
    await client.close();
  }
}
