import { stat } from 'node:fs/promises';
import { ActionError } from '../../base/errors.ts';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';

const loaded = new Map<string, { config: KubeConfig; modifiedMs: number }>();

/**
 * Credentials from a kubeconfig user's `exec` program or `auth-provider`. Loads @kubernetes/client-node (about 70 MB of memory), which also keeps
 * what it was given until that expires: import this file only when a user needs it.
 * @param renew - the server refused what was given last: ask anew
 * @throws {ActionError} when the program fails
 */
export async function pluginCredentials(
  plugin: { kubeconfig: string; context: string },
  renew: boolean,
): Promise<{ authorization: string | undefined; cert?: string; key?: string }> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const id = JSON.stringify([plugin.kubeconfig, plugin.context]);
  const options: RequestOptions = { headers: {} };
  try {
    let known = loaded.get(id);
    const { mtimeMs } = await stat(plugin.kubeconfig);
    if (known === undefined || renew || known.modifiedMs !== mtimeMs) {
      known = { config: new KubeConfig(), modifiedMs: mtimeMs };
      known.config.loadFromFile(plugin.kubeconfig);
      known.config.setCurrentContext(plugin.context);
      loaded.set(id, known);
    }
    await known.config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw new ActionError('get credentials for', plugin.kubeconfig, {
      hint: `the exec program or auth provider of context "${plugin.context}" failed; run kubectl with it to see why`,
      cause,
    });
  }
  const headers = new Headers(Object.entries(options.headers ?? {}).map(([name, value]): [string, string] => [name, String(value)]));
  const cert = pem(options.cert);
  const key = pem(options.key);
  return {
    authorization: headers.get('authorization') ?? undefined,
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function pem(value: unknown): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
}
