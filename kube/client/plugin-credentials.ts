import { ActionError } from '../../base/errors.ts';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Millis } from '../../base/clock.ts';
import type { Plugin } from './access.ts';

export interface PluginCredentials {
  authorization: string | undefined;
  cert?: string;
  key?: string;
}

interface Known {
  config: KubeConfig;
  document: Plugin['document'];
  last?: { given: PluginCredentials; untilMs: Millis };
}

const loaded = new Map<string, Known>();

/** A token this close to its end is asked for anew. */
const MARGIN_MS: Millis = 10_000;

/**
 * Credentials from a kubeconfig user's `exec` program or `auth-provider`. Loads @kubernetes/client-node (about 70 MB of memory), which also keeps
 * what it was given until that expires: import this file only when a user needs it.
 * @param renew - the server refused what was given last: ask anew
 * @param nowMs - the wall clock
 * @throws {ActionError} when the program fails
 */
export async function pluginCredentials(plugin: Plugin, renew: boolean, nowMs: Millis): Promise<PluginCredentials> {
  const id = JSON.stringify([plugin.kubeconfig, plugin.context]);
  let known = loaded.get(id);
  if (known?.document === plugin.document && !renew && known.last !== undefined && nowMs < known.last.untilMs) return known.last.given;
  const options: RequestOptions = { headers: {} };
  try {
    if (known === undefined || renew || known.document !== plugin.document) {
      const { KubeConfig } = await import('@kubernetes/client-node');
      known = { config: new KubeConfig(), document: plugin.document };
      known.config.loadFromString(JSON.stringify(plugin.document));
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
  const given = {
    authorization: headers.get('authorization') ?? undefined,
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  // client-node 2.0.1 takes the seconds that a refreshed OIDC token lasts for the time at which it ends, and so refreshes it every time.
  if (known.config.getCurrentUser()?.authProvider?.name === 'oidc') {
    known.last = { given, untilMs: (endOfToken(given.authorization) ?? 0) - MARGIN_MS };
  }
  return given;
}

/** When a JWT expires, in ms since 1970. */
function endOfToken(authorization: string | undefined): Millis | undefined {
  const [, payload = ''] = authorization?.split('.') ?? [];
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}

function pem(value: unknown): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
}
