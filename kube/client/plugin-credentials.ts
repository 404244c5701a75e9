import { ActionError, describeError } from '../../base/errors.ts';
import { isJsonObject } from '../api/json.ts';
import { OidcUser } from './oidc.ts';
import { persistTokens } from './persist-tokens.ts';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { JsonObject } from '../api/json.ts';
import type { Plugin } from './access.ts';
import type { NewTokens } from './persist-tokens.ts';

export interface PluginCredentials {
  authorization: string | undefined;
  cert?: string;
  key?: string;
}

type Known = { document: JsonObject } & ({ oidc: OidcUser } | { config: KubeConfig });

const loaded = new Map<string, Known>();
const unwritable = new Set<string>();

/**
 * Credentials from a kubeconfig user's `exec` program or `auth-provider`. Other than for OIDC this loads @kubernetes/client-node (about 70 MB of memory),
 * which also keeps what it was given until that expires: import this file only when a user needs it.
 * @param renew - the server refused what was given last: ask anew
 * @param nowMs - the wall clock
 * @param log - hears of tokens that could not be written back
 * @throws {ActionError} when the program or the provider fails
 */
export async function pluginCredentials(plugin: Plugin, renew: boolean, nowMs: Millis, log: Log): Promise<PluginCredentials> {
  const id = JSON.stringify([plugin.kubeconfig, plugin.context]);
  let known = loaded.get(id);
  if (known?.document !== plugin.document || (renew && 'config' in known)) {
    known = await load(plugin, log);
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

async function load(plugin: Plugin, log: Log): Promise<Known> {
  const { document } = plugin;
  const oidc = oidcConfig(plugin);
  if (oidc !== undefined) return { document, oidc: new OidcUser(oidc.config, (tokens) => keep(plugin, oidc.user, tokens, log)) };
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

/** A kubeconfig that cannot be written (a read-only mount) is said so once; the process goes on with what it has in memory. */
async function keep({ kubeconfig }: Plugin, user: string, tokens: NewTokens, log: Log): Promise<void> {
  if (unwritable.has(kubeconfig)) return;
  try {
    await persistTokens(kubeconfig, user, tokens);
  } catch (error) {
    unwritable.add(kubeconfig);
    const remedy = 'if the provider issues each refresh token once, log in again before restarting this process';
    log.warn('failed to save refreshed OIDC tokens, keeping them in memory only', { error: describeError(error), remedy });
  }
}

/** What stands under `auth-provider` of the context's user, if that is `oidc` and not run by a program. */
function oidcConfig({ document, context }: Plugin): { user: string; config: JsonObject } | undefined {
  const { user } = entry(document['contexts'], context, 'context');
  if (typeof user !== 'string') return undefined;
  const { exec, 'auth-provider': provider } = entry(document['users'], user, 'user');
  if (isJsonObject(exec) || !isJsonObject(provider) || provider['name'] !== 'oidc') return undefined;
  return { user, config: isJsonObject(provider['config']) ? provider['config'] : {} };
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
