import { backoff } from '../../base/waiting.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import { ActionError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import type { Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';

/** The claims of a ServiceAccount token. Only the API server verifies the signature. */
interface AccountToken {
  namespace: string;
  name: string;
  audiences: readonly string[];
  /** Wall clock, ms. */
  issuedAt: Millis;
  expiresAt: Millis;
}

const MAX_TOKEN_LENGTH = 64 * 1024;
/** Fraction of its lifetime after which a token is renewed; kubelets renew the tokens of pods at the same point. */
const RENEWED_AFTER = 0.8;
/** Fraction of the lifetime by which this node's clock may lag the server's: a token that is renewed that much later is still valid. */
const MAX_SKEW = 0.1;

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

/**
 * How long to wait before the token is renewed, by this node's clock. A token with an issue time far in the future of that clock means that the
 * clock is behind and that the age of the token is unknown: it is renewed at once.
 * @param now - wall clock, ms
 */
function renewalWait({ issuedAt, expiresAt }: AccountToken, now: Millis): Millis {
  const [life, age] = [expiresAt - issuedAt, now - issuedAt];
  return age < -life * MAX_SKEW ? 0 : Math.max(0, life * RENEWED_AFTER - Math.max(0, age));
}

/** `spec` of a TokenRequest for a token with the same audiences and the same lifetime. */
function renewalSpec({ audiences, issuedAt, expiresAt }: AccountToken): { audiences: readonly string[]; expirationSeconds: number } {
  return { audiences, expirationSeconds: Math.round((expiresAt - issuedAt) / 1000) };
}

/** Whether `next` may replace `now`: the same account, and a later expiry. */
function isRenewal(next: AccountToken | undefined, now: AccountToken): next is AccountToken {
  return next !== undefined && next.namespace === now.namespace && next.name === now.name && next.expiresAt > now.expiresAt;
}

const serviceAccounts: Resource = { group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
/** Longest time between two reads of the file, in ms: another program may have written another token. */
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
 * Renews the ServiceAccount token in `path` after four fifths of its lifetime, until the signal aborts. The client rereads the file, so nothing
 * restarts. Other kinds of token are left alone.
 */
export async function renewToken(path: string, deps: RenewTokenDeps, signal: AbortSignal): Promise<void> {
  const { clock, random, log } = deps;
  let known: KnownToken | undefined;
  for (let failures = 0; !signal.aborted;) {
    let wait = MAX_PERIOD_MS;
    try {
      known = await renewIfDue(path, known, deps, signal);
      wait = Math.min(wait, known === undefined ? wait : Math.max(0, known.dueAt - clock.monotonic()));
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

/**
 * A token that was read, and when to renew it. The issue time is by the server's clock, which may differ from this node's. So the due time is computed
 * once, on both clocks of this node: the monotonic clock stands still while the machine is suspended.
 */
interface KnownToken {
  text: string;
  /** Monotonic clock, ms. */
  dueAt: Millis;
  /** Wall clock, ms. */
  dueAtWall: Millis;
}

const knownToken = (text: string, wait: Millis, clock: Clock): KnownToken => ({
  text,
  dueAt: clock.monotonic() + wait,
  dueAtWall: clock.now() + wait,
});

/** @returns undefined where there is no token to renew */
async function renewIfDue(
  path: string,
  known: KnownToken | undefined,
  { client, disk, clock, log }: RenewTokenDeps,
  signal: AbortSignal,
): Promise<KnownToken | undefined> {
  const text = new TextDecoder().decode(await disk.read(path));
  const now = parseAccountToken(text);
  if (!now) return undefined;
  const seen = known?.text === text ? known : knownToken(text, renewalWait(now, clock.now()), clock);
  if (clock.monotonic() < seen.dueAt && clock.now() < seen.dueAtWall) return seen;
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
  // The token was issued just now: its age is 0, even if the two clocks differ.
  return knownToken(token, renewalWait(next, next.issuedAt), clock);
}
