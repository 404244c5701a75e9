import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ActionError, errorCode } from '../../base/errors.ts';
import { createClient } from '../../kube/client/http-client.ts';
import { type ClusterAccess, kubeletAccess, loadKubeconfig } from '../../kube/client/access.ts';
import { UsageError } from '../failure.ts';
import type { ConnectQuery } from '../command.ts';
import type { Client } from '../../kube/client/client.ts';

/** A client for the API server that the kubeconfig names. @throws {ActionError} if the kubeconfig is missing or unusable */
export async function connect(query: ConnectQuery, env: Environment): Promise<Client> {
  const { requestTimeoutMs: timeoutMs } = query;
  return createClient(await accessOf(query, env), {
    userAgent: 'dkc-cli',
    ...(timeoutMs === undefined ? {} : { timeoutMs: Math.min(timeoutMs, NO_LIMIT_MS) }),
  });
}

/** The namespace of the kubeconfig's context; undefined if the context has none. @throws {ActionError} as {@link connect} */
export async function namespaceOf(query: ConnectQuery, env: Environment): Promise<string | undefined> {
  return (await accessOf(query, env)).namespace;
}

/** A year: no command runs for as long. */
const NO_LIMIT_MS = 365 * 86_400_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The access that the kubeconfig describes; opens no connection. Each impersonation flag overrides its field there and no other, as in kubectl.
 * @throws {ActionError} as {@link connect}; UsageError for groups or a UID if neither flags nor kubeconfig name a user
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
  // kubectl's message.
  if (Object.keys(asked).length > 0) throw new UsageError('--as-group and --as-uid require --as');
  return access;
}

/** The file of the flag; else all files of $KUBECONFIG, which are merged; else ~/.kube/config. */
export function kubeconfigPaths({ kubeconfig }: ConnectQuery, env: Readonly<Record<string, string | undefined>>): string[] {
  if (kubeconfig !== undefined) return [kubeconfig];
  const paths = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  return paths.length > 0 ? paths : [join(env['HOME'] ?? homedir(), '.kube', 'config')];
}

/** Only ENOENT and ENOTDIR count as missing: for a file that this user may not read, the reader reports the error. */
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR',
  );

/** In ms: the kubelet authenticates the caller at the API server before it responds. */
const KUBELET_TIMEOUT_MS = 10_000;

/** The same limit as for a configuration file on the command line, in bytes. */
const MAX_CONFIGZ_BYTES = 4 * 1024 * 1024;

/** Sends a request to a kubelet's port with the credentials of a kubeconfig. @throws {ActionError} for the kubeconfig, and what a Client throws */
export async function fetchFromKubelet(
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
