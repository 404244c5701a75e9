import { ActionError, describeError } from '../../base/errors.ts';
import { isJsonObject } from '../api/json.ts';
import { OidcUser } from './oidc.ts';
import { persistTokens } from './persist-tokens.ts';
import type { RequestOptions } from 'node:https';
import type { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import type { Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { JsonObject } from '../api/json.ts';
import type { ExecInfo, Plugin } from './access.ts';
import type { NewTokens } from './persist-tokens.ts';

export interface PluginCredentials {
  authorization: string | undefined;
  cert?: string;
  key?: string;
}

type ExecPlugin = Extract<Plugin, { exec: JsonObject }>;
type OidcPlugin = Extract<Plugin, { oidc: JsonObject }>;

const execs = new WeakMap<ExecPlugin, ExecAuth>();
const oidcUsers = new WeakMap<OidcPlugin, OidcUser>();
const unwritable = new Set<string>();

/**
 * Credentials from a kubeconfig user's `exec` program, kept until they expire, or from its OIDC provider.
 * @param renew - the server refused the last ones: run the program again, refresh the token
 * @param nowMs - the wall clock
 * @param ca - PEM of the authorities that the cluster is trusted by, for programs that ask for it
 * @param log - gets a warning when refreshed tokens cannot be written back
 * @throws {ActionError} when the program or the provider fails
 */
export async function pluginCredentials(
  plugin: Plugin,
  { renew, nowMs, log, ca }: { renew: boolean; nowMs: Millis; log: Log; ca?: string | undefined },
): Promise<PluginCredentials> {
  if ('oidc' in plugin) {
    const user = oidcUsers.get(plugin) ?? new OidcUser(plugin.oidc, (tokens) => keep(plugin, tokens, log));
    oidcUsers.set(plugin, user);
    return { authorization: `Bearer ${await user.token(nowMs, renew)}` };
  }
  return execCredentials(plugin, renew, ca);
}

/** The one part of @kubernetes/client-node that dkc loads: its index would load the whole generated API with it, some 86 MB of memory. */
async function execCredentials(plugin: ExecPlugin, renew: boolean, ca: string | undefined): Promise<PluginCredentials> {
  const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js');
  const auth = (renew ? undefined : execs.get(plugin)) ?? new ExecAuth();
  execs.set(plugin, auth);
  const options: RequestOptions & { headers: Record<string, string> } = { headers: {} };
  const given: readonly unknown[] = Array.isArray(plugin.exec['env']) ? plugin.exec['env'] : [];
  // The package does not set what client-go always does; programs read the apiVersion to answer with there.
  const env = [...given.filter(isJsonObject), { name: 'KUBERNETES_EXEC_INFO', value: execInfoText(plugin.execInfo, ca) }];
  try {
    await auth.applyAuthentication({ name: plugin.user, exec: { ...plugin.exec, env } }, options);
  } catch (cause) {
    const install = plugin.exec['installHint'];
    throw new ActionError('get credentials for', plugin.kubeconfig, {
      hint: `the exec program ${String(plugin.exec['command'])} of user "${plugin.user}" failed; ${typeof install === 'string' ? install : 'run kubectl with this kubeconfig to see why'}`,
      cause,
    });
  }
  const [cert, key] = [pem(options.cert), pem(options.key)];
  return {
    authorization: options.headers['Authorization'],
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

function execInfoText({ kind, apiVersion, spec }: ExecInfo, ca: string | undefined): string {
  const { cluster, ...rest } = spec;
  const data = ca === undefined ? undefined : Buffer.from(ca).toString('base64');
  return JSON.stringify({
    kind,
    apiVersion,
    spec: { ...rest, ...(cluster !== undefined && { cluster: { ...cluster, 'certificate-authority-data': data } }) },
  });
}

/** Warns once about a kubeconfig that cannot be written (a read-only mount); the tokens in memory stay in use. */
async function keep({ kubeconfig, user }: OidcPlugin, tokens: NewTokens, log: Log): Promise<void> {
  if (unwritable.has(kubeconfig)) return;
  try {
    await persistTokens(kubeconfig, user, tokens);
  } catch (error) {
    unwritable.add(kubeconfig);
    const remedy = 'if the provider issues each refresh token once, log in again before restarting this process';
    log.warn('failed to save refreshed OIDC tokens, keeping them in memory only', { error: describeError(error), remedy });
  }
}

function pem(value: unknown): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
}
