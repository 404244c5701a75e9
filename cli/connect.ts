import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ActionError } from '../base/errors.ts';
import { createClient } from '../kube/client/http-client.ts';
import { loadKubeconfig } from '../kube/client/load-access.ts';
import type { ConnectQuery, Flag } from './command.ts';
import type { Client } from '../kube/client/client.ts';

/** How a command reaches the API server, as kubectl's flags of these names. */
export const connectFlags: readonly Flag[] = [
  {
    name: 'kubeconfig',
    type: 'string',
    value: 'FILE',
    completes: 'file',
    text: 'how to reach the API server',
    defaultText: '$KUBECONFIG, then ~/.kube/config',
  },
  { name: 'context', type: 'string', value: 'NAME', text: 'context of the kubeconfig', defaultText: 'its current one' },
];

/** A client for the API server that the kubeconfig names. @throws {ActionError} where there is none, or it cannot be used */
export async function connect(query: ConnectQuery, env: Readonly<Record<string, string | undefined>>): Promise<Client> {
  const path = query.kubeconfig ?? (await fromEnvironment(env['KUBECONFIG'])) ?? join(env['HOME'] ?? homedir(), '.kube', 'config');
  if (!(await exists(path)))
    throw new ActionError('use kubeconfig', path, { hint: 'there is no such file; name one by --kubeconfig or $KUBECONFIG' });
  const found = await loadKubeconfig(path, query.context === undefined ? {} : { context: query.context });
  return createClient(found, { userAgent: 'dkc-cli' });
}

/** $KUBECONFIG may list several files; the first that is there is taken, and the first one named in the error when none is. */
async function fromEnvironment(list: string | undefined): Promise<string | undefined> {
  const paths = (list ?? '').split(delimiter).filter((path) => path !== '');
  for (const path of paths) if (await exists(path)) return path;
  return paths[0];
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
