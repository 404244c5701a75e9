import { readFile } from 'node:fs/promises';
import { ActionError } from '../../base/errors.ts';
import { isJsonObject } from '../api/json.ts';
import { https } from './builtins.ts';
import type { Millis } from '../../base/clock.ts';
import type { JsonObject } from '../api/json.ts';
import type { NewTokens } from './kubeconfig-tokens.ts';

/** A token this close to its expiry is refreshed. */
const MARGIN_MS: Millis = 10_000;
const ANSWER_MS: Millis = 10_000;
const LARGEST_ANSWER = 1024 * 1024;

/**
 * A user of a kubeconfig with `auth-provider` `oidc`: its id token, refreshed at its provider when it expires (RFC 6749, section 6). Implemented here, since
 * the OpenID library of @kubernetes/client-node 2.0.1 rejects the arguments that it gets.
 */
export class OidcUser {
  readonly #config: Readonly<JsonObject>;
  readonly #refreshed: (tokens: NewTokens) => Promise<void>;
  #idToken: string | undefined;
  #refreshToken: string | undefined;

  /**
   * @param config - the provider's `config`, with absolute paths
   * @param refreshed - stores the provider's tokens, which may include the only valid refresh token; must not throw
   */
  constructor(config: JsonObject, refreshed: (tokens: NewTokens) => Promise<void>) {
    this.#config = config;
    this.#refreshed = refreshed;
    this.#idToken = this.#text('id-token');
    this.#refreshToken = this.#text('refresh-token');
  }

  /**
   * @param renew - the server rejected the last token
   * @throws {ActionError} when there is no valid token and refreshing fails; its message has no token and no secret
   */
  async token(nowMs: Millis, renew: boolean): Promise<string> {
    if (this.#idToken === undefined || renew || endOfToken(this.#idToken) - MARGIN_MS <= nowMs) await this.#refresh();
    return this.#idToken ?? '';
  }

  async #refresh(): Promise<void> {
    const issuer = this.#text('idp-issuer-url');
    const clientId = this.#text('client-id');
    if (issuer === undefined || clientId === undefined || this.#refreshToken === undefined) {
      throw new ActionError('refresh the OIDC token of', issuer ?? 'a user', {
        hint: 'the auth-provider needs idp-issuer-url, client-id and refresh-token for that; log in again',
      });
    }
    const found = await this.#requestJson(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`);
    const { token_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = found;
    if (typeof endpoint !== 'string') throw this.#refused(issuer, 'its openid-configuration names no token_endpoint');
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: this.#refreshToken, client_id: clientId });
    const secret = this.#text('client-secret');
    const headers: Record<string, string> = {};
    if (secret !== undefined) {
      // In the body only where the provider supports nothing else: every provider accepts the header (OpenID Connect Core, section 9).
      const inBody = Array.isArray(methods) && methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
      if (inBody) form.set('client_secret', secret);
      else headers['authorization'] = `Basic ${Buffer.from([clientId, secret].map(encodeURIComponent).join(':')).toString('base64')}`;
    }
    const { id_token: idToken, refresh_token: refreshToken } = await this.#requestJson(endpoint, form.toString(), headers);
    if (typeof idToken !== 'string') throw this.#refused(endpoint, 'it answered without an id_token');
    const used = this.#refreshToken;
    this.#idToken = idToken;
    if (typeof refreshToken === 'string' && refreshToken !== '') this.#refreshToken = refreshToken;
    await this.#refreshed({ idToken, refreshToken: this.#refreshToken, used });
  }

  async #requestJson(url: string, form?: string, more: Record<string, string> = {}): Promise<JsonObject> {
    const to = URL.parse(url);
    if (to?.protocol !== 'https:') throw this.#refused(url, 'it is not an https:// URL');
    const ca = await this.#authority();
    const headers = {
      accept: 'application/json',
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...more,
    };
    const text = await new Promise<string>((resolve, reject) => {
      const agent = new (https().Agent)(ca === undefined ? {} : { ca });
      const method = form === undefined ? 'GET' : 'POST';
      const asked = https().request(to, { method, headers, agent, signal: AbortSignal.timeout(ANSWER_MS) }, (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          body += part;
          if (body.length > LARGEST_ANSWER) answer.destroy(new Error('the answer is too long'));
        });
        answer.once('error', reject);
        answer.once('end', () => (answer.statusCode === 200 ? resolve(body) : reject(new Error(`it answered ${answer.statusCode}`))));
      });
      asked.once('error', reject);
      asked.end(form);
    }).catch((cause: unknown) => {
      throw this.#refused(url, cause instanceof Error ? cause.message : 'it did not answer', cause);
    });
    try {
      const answer: unknown = JSON.parse(text);
      if (isJsonObject(answer)) return answer;
    } catch {
      // reported below without the text, which may hold tokens
    }
    throw this.#refused(url, 'its answer is not a JSON object');
  }

  async #authority(): Promise<string | undefined> {
    const data = this.#text('idp-certificate-authority-data');
    if (data !== undefined) return Buffer.from(data, 'base64').toString();
    const file = this.#text('idp-certificate-authority');
    return file === undefined ? undefined : readFile(file, 'utf8');
  }

  #text(field: string): string | undefined {
    const value = this.#config[field];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  #refused(url: string, hint: string, cause?: unknown): ActionError {
    return new ActionError('refresh the OIDC token at', url.slice(0, 200), {
      hint: `${hint}; check idp-issuer-url, or log in again`,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

/** When a JWT expires, in ms since 1970; 0 when it cannot be read. The API server checks the signature. */
function endOfToken(token: string): Millis {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1_000 : 0;
  } catch {
    return 0;
  }
}
