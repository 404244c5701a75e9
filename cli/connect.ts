import { ActionError } from '../base/errors.ts';
import type { ConnectQuery } from './command.ts';
import type { Client } from '../kube/client/client.ts';

/** A client for the API server that the kubeconfig names. */
export async function connect(query: ConnectQuery, env: Readonly<Record<string, string | undefined>>): Promise<Client> {
  const file = query.kubeconfig ?? env['KUBECONFIG'];
  throw new ActionError('connect with', file ?? '~/.kube/config', { hint: 'the client is not wired yet' });
}
