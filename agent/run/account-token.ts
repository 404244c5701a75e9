import type { Millis } from '../../base/clock.ts';
import { isJsonObject } from '../../kube/api/json.ts';

/** What the token of a ServiceAccount says of itself. Its signature is the API server's business. */
export interface AccountToken {
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
