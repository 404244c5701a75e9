import { ActionError } from '../../base/errors.ts';
import { isJsonObject } from '../api/json.ts';
import { OidcUser } from './oidc.ts';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Millis } from '../../base/clock.ts';
import type { JsonObject } from '../api/json.ts';
import type { Plugin } from './access.ts';

export interface PluginCredentials {
  authorization: string | undefined;
  cert?: string;
  key?: string;
}

type Known = { document: JsonObject } & ({ oidc: OidcUser } | { config: KubeConfig });

const loaded = new Map<string, Known>();

/**
 * Credentials from a kubeconfig user's `exec` program or `auth-provider`. Other than for OIDC this loads @kubernetes/client-node (about 70 MB of memory),
 * which also keeps what it was given until that expires: import this file only when a user needs it.
 * @param renew - the server refused what was given last: ask anew
 * @param nowMs - the wall clock
 * @throws {ActionError} when the program or the provider fails
 */
export async function pluginCredentials(plugin: Plugin, renew: boolean, nowMs: Millis): Promise<PluginCredentials> {
  const id = JSON.stringify([plugin.kubeconfig, plugin.context]);
  let known = loaded.get(id);
  if (known?.document !== plugin.document || (renew && 'config' in known)) {
    known = await load(plugin);
    loaded.set(id, known);
  }
  if ('oidc' in known) return { authorization: `Bearer ${await known.oidc.token(nowMs, renew)}` };
  const options: RequestOptions = { headers: {} };
  try {
    await known.config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw failed(plugin, cause);
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

async function load(plugin: Plugin): Promise<Known> {
  const { document } = plugin;
  const oidc = oidcConfig(plugin);
  if (oidc !== undefined) return { document, oidc: new OidcUser(oidc) };
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    config.loadFromString(JSON.stringify(document));
    config.setCurrentContext(plugin.context);
  } catch (cause) {
    throw failed(plugin, cause);
  }
  return { document, config };
}

/** What stands under `auth-provider` of the context's user, if that is `oidc` and not run by a program. */
function oidcConfig({ document, context }: Plugin): JsonObject | undefined {
  const { user } = entry(document['contexts'], context, 'context');
  if (typeof user !== 'string') return undefined;
  const { exec, 'auth-provider': provider } = entry(document['users'], user, 'user');
  if (isJsonObject(exec) || !isJsonObject(provider) || provider['name'] !== 'oidc') return undefined;
  return isJsonObject(provider['config']) ? provider['config'] : {};
}

function entry(list: unknown, name: string, field: string): JsonObject {
  const found: unknown = Array.isArray(list) ? list.find((item) => isJsonObject(item) && item['name'] === name) : undefined;
  const body = isJsonObject(found) ? found[field] : undefined;
  return isJsonObject(body) ? body : {};
}

function failed(plugin: Plugin, cause: unknown): ActionError {
  return new ActionError('get credentials for', plugin.kubeconfig, {
    hint: `the exec program or auth provider of context "${plugin.context}" failed; run kubectl with it to see why`,
    cause,
  });
}

function pem(value: unknown): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
}
