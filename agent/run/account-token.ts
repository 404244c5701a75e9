import { backoff } from '../../base/waiting.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import { ActionError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';

/** What the token of a ServiceAccount says of itself. Its signature is the API server's business. */
interface AccountToken {
  namespace: string;
  name: string;
  audiences: readonly string[];
  /** Wall clock, ms. */
  issuedAt: Millis;
  expiresAt: Millis;
}

const MAX_TOKEN_LENGTH = 64 * 1024;
/** Of its lifetime, after which a token is renewed: kubelets renew those of their pods then, too. */
const RENEWED_AFTER = 0.8;

/** @returns undefined for a token of another kind, or one that never expires */
export function parseAccountToken(text: string): AccountToken | undefined {
  const [, payload = '', signature] = text.trim().split('.');
  if (signature === undefined || text.length > MAX_TOKEN_LENGTH) return undefined;
  let claims: unknown;
  try {
    claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isJsonObject(claims)) return undefined;
  const { sub, aud, iat, exp } = claims;
  const [, namespace, name] = typeof sub === 'string' ? (/^system:serviceaccount:([-a-z0-9]+):([-.a-z0-9]+)$/.exec(sub) ?? []) : [];
  if (namespace === undefined || name === undefined || typeof iat !== 'number' || typeof exp !== 'number' || exp <= iat) return undefined;
  const audiences = [aud].flat().filter((one) => typeof one === 'string');
  return { namespace, name, audiences, issuedAt: iat * 1000, expiresAt: exp * 1000 };
}

/** When to renew it, on the wall clock. */
export function renewalTime({ issuedAt, expiresAt }: AccountToken): Millis {
  return issuedAt + (expiresAt - issuedAt) * RENEWED_AFTER;
}

/** `spec` of the TokenRequest for one that is like it and lives as long. */
export function renewalSpec({ audiences, issuedAt, expiresAt }: AccountToken): { audiences: readonly string[]; expirationSeconds: number } {
  return { audiences, expirationSeconds: Math.round((expiresAt - issuedAt) / 1000) };
}

/** Whether `next` may take the place of `now`: the same account, and it lives longer. */
export function isRenewal(next: AccountToken | undefined, now: AccountToken): next is AccountToken {
  return next !== undefined && next.namespace === now.namespace && next.name === now.name && next.expiresAt > now.expiresAt;
}

const serviceAccounts: Resource = { group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
/** Longest time between two looks at the file, in ms: another program may have written another token. */
const MAX_PERIOD_MS: Millis = 600_000;
const limits = { base: 5_000, cap: 300_000 };

export interface RenewTokenDeps {
  client: Pick<Client, 'post'>;
  disk: Pick<Disk, 'read' | 'replace'>;
  clock: Clock;
  random: Random;
  log: Log;
}

/**
 * Renews the ServiceAccount token in `path` after four fifths of its lifetime, until the signal aborts. The client reads the file again; nothing
 * restarts. A token of another kind is left alone.
 */
export async function renewToken(path: string, deps: RenewTokenDeps, signal: AbortSignal): Promise<void> {
  const { clock, random, log } = deps;
  for (let failures = 0; !signal.aborted;) {
    let wait = MAX_PERIOD_MS;
    try {
      wait = Math.min(wait, await look(path, deps, signal));
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      log[failures === 1 ? 'warn' : 'debug']('failed to renew the token, retrying', { path, failures, error });
      wait = backoff(failures, limits, random);
    }
    await clock.sleep(wait, signal).catch(() => {});
  }
}

/** @returns when to look again, in ms */
async function look(path: string, { client, disk, clock, log }: RenewTokenDeps, signal: AbortSignal): Promise<Millis> {
  const now = parseAccountToken(new TextDecoder().decode(await disk.read(path)));
  if (!now) return MAX_PERIOD_MS;
  const left = renewalTime(now) - clock.now();
  if (left > 0) return left;
  const { namespace, name } = now;
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: renewalSpec(now) };
  const answer = await client.post(serviceAccounts, { namespace, name }, 'token', request, { signal });
  const status = isJsonObject(answer) ? answer['status'] : undefined;
  const token = isJsonObject(status) ? status['token'] : undefined;
  const next = typeof token === 'string' ? parseAccountToken(token) : undefined;
  if (typeof token !== 'string' || !isRenewal(next, now))
    throw new ActionError('renew', `the token of ServiceAccount ${namespace}/${name}`, {
      hint: 'the API server issued no token with a longer lifetime',
    });
  await disk.replace(path, new TextEncoder().encode(token), 0o600);
  log.info('token renewed', { serviceAccount: `${namespace}/${name}`, expiresAt: new Date(next.expiresAt).toISOString() });
  return Math.max(0, renewalTime(next) - clock.now());
}
