import type { SecureContext } from 'node:tls';
import { ActionError, messageOf } from '../../base/errors.ts';
import { crypto, tls } from './builtins.ts';
import { FreshFile } from '../../base/changing-files.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { AccessSource, ClusterAccess, Material } from './access.ts';

/** Where to connect, and with which certificates. The same object as long as nothing in it changes: another object means another connection. */
export interface Endpoint {
  server: URL;
  tls: { context: SecureContext; verify: boolean; serverName: string | undefined } | undefined;
  /** The proxy to connect through; absent for a direct connection. */
  proxy?: URL;
}

/** Everything a request needs of {@link ClusterAccess}, with the current contents of the files. */
export interface Identity {
  endpoint: Endpoint;
  /** Authorization and impersonation. */
  headers: Record<string, string | string[]>;
}

type Pems = { ca?: string | undefined; cert?: string | undefined; key?: string | undefined };

/**
 * The TLS context of certificates and key.
 * @param action - for the error: what they are needed for; `object` is where they come from
 * @throws {ActionError} when one of them cannot be used
 */
export function secureContext(pems: Pems, action: string, object: string): SecureContext {
  const { ca, cert, key } = pems;
  try {
    // OpenSSL skips an authority that it cannot read, and then trusts none: a half-written file would replace the valid one.
    if (ca !== undefined && !isCompletePem(ca)) throw new Error('the certificate authority is no PEM, or is cut off');
    if (/ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED/.test(key ?? ''))
      throw new Error('the client key is encrypted; openssl pkey writes it without a passphrase');
    if (cert !== undefined && key !== undefined && isOfAnother(cert, key))
      throw new Error('the client key is not that of the client certificate, the first one in its file');
    return tls().createSecureContext(pems);
  } catch (cause) {
    throw new ActionError(action, object, {
      hint: 'certificate authority, client certificate and key must be PEM, and the key must be that of the certificate',
      cause,
    });
  }
}

/** OpenSSL compares a key only with a certificate of the same algorithm: it accepts an RSA key with an EC certificate, and then sends no certificate. */
function isOfAnother(cert: string, key: string): boolean {
  const { createPrivateKey, X509Certificate } = crypto();
  try {
    return !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false; // createSecureContext names what cannot be read
  }
}

function isCompletePem(text: string): boolean {
  const begun = text.match(/-----BEGIN [\w ]+-----/g)?.length ?? 0;
  return begun > 0 && begun === text.match(/-----END [\w ]+-----/g)?.length;
}

/**
 * Turns access into identities, and reads files again when they change. The first `identity()` fails when anything is unreadable; later a half-finished
 * rotation (certificate new, key still old) leaves the last valid identity in use.
 */
export class Credentials {
  readonly #source: AccessSource;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #log: Log;
  readonly #checkEveryMs: number;
  readonly #files = new Map<string, FreshFile>();
  #checkedAt = Number.NEGATIVE_INFINITY;
  #known: Identity | undefined;
  /** The inputs of the known endpoint. Includes a private key: for comparison only. */
  #madeOf = '';
  #checking: Promise<Identity> | undefined;
  readonly #closed = new AbortController();

  constructor(source: AccessSource, deps: { clock: Pick<Clock, 'now' | 'monotonic'>; log: Log; checkEveryMs: number }) {
    this.#source = source;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#checkEveryMs = deps.checkEveryMs;
  }

  /** The server's host and port, for messages; undefined before the first identity. */
  get host(): string | undefined {
    return this.#known?.endpoint.server.host;
  }

  /** The current identity, where no file has to be checked for it, as for nearly every request; undefined otherwise. */
  get fresh(): Identity | undefined {
    return this.#clock.monotonic() - this.#checkedAt < this.#checkEveryMs ? this.#known : undefined;
  }

  /** The current identity. Files are checked at most every `checkEveryMs`, unless `force`: the server rejected the last credentials. */
  async identity(force = false): Promise<Identity> {
    const { fresh } = this;
    if (!force && fresh !== undefined) return fresh;
    // A running check began before the rejection: read the credentials again after it.
    if (force && this.#checking) await this.#checking.catch(() => undefined);
    this.#checking ??= this.#refresh(force).finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  /** No identity is needed any more: ends an exec program that runs for one. */
  close(): void {
    this.#closed.abort();
  }

  async #refresh(force: boolean): Promise<Identity> {
    try {
      this.#known = await this.#read(await this.#source.current(), force);
    } catch (error) {
      if (this.#known === undefined) throw error;
      this.#log.warn('failed to load new credentials, keeping the previous ones', {
        error: messageOf(error),
      });
    }
    this.#checkedAt = this.#clock.monotonic();
    return this.#known;
  }

  async #read(access: ClusterAccess, force: boolean): Promise<Identity> {
    const pems: Pems = {};
    let authorization: string | undefined;
    if (access.ca) pems.ca = await this.#material(access.ca, 'certificate authority');
    if (access.clientCertificate) pems.cert = await this.#material(access.clientCertificate, 'client certificate');
    if (access.clientKey) pems.key = await this.#material(access.clientKey, 'client key');
    if (access.plugin) {
      const { pluginCredentials } = await import('./plugin-credentials.ts');
      const { signal } = this.#closed;
      const given = await pluginCredentials(access.plugin, { renew: force, nowMs: this.#clock.now(), log: this.#log, ca: pems.ca, signal });
      authorization = given.authorization;
      if (given.cert !== undefined) pems.cert = given.cert;
      if (given.key !== undefined) pems.key = given.key;
    } else if (access.tokenFile !== undefined) authorization = bearer(await this.#file(access.tokenFile, 'token file').text(), access);
    else if (access.token !== undefined) authorization = bearer(access.token, access);
    else if (access.basic) authorization = `Basic ${Buffer.from(`${access.basic.username}:${access.basic.password}`).toString('base64')}`;
    const headers: Record<string, string | string[]> = authorization === undefined ? {} : { authorization };
    if (access.impersonate) {
      headers['impersonate-user'] = access.impersonate.user;
      if (access.impersonate.uid !== undefined) headers['impersonate-uid'] = access.impersonate.uid;
      if (access.impersonate.groups.length > 0) headers['impersonate-group'] = [...access.impersonate.groups];
      for (const [key, values] of Object.entries(access.impersonate.extra ?? {}))
        if (values.length > 0) headers[`impersonate-extra-${inHeaderName(key)}`] = [...values];
    }
    return { endpoint: this.#endpoint(access, pems), headers };
  }

  #endpoint(access: ClusterAccess, pems: Pems): Endpoint {
    const madeOf = JSON.stringify([
      access.server,
      access.proxy,
      access.tlsServerName,
      access.insecureSkipTlsVerify,
      pems.ca,
      pems.cert,
      pems.key,
    ]);
    if (this.#known !== undefined && this.#madeOf === madeOf) return this.#known.endpoint;
    const server = new URL(access.server);
    const context = server.protocol === 'https:' ? secureContext(pems, 'use the certificates of', access.origin) : undefined;
    this.#madeOf = madeOf;
    const proxy = access.proxy === undefined ? {} : { proxy: new URL(access.proxy) };
    if (context === undefined) return { server, tls: undefined, ...proxy };
    return { server, ...proxy, tls: { context, verify: access.insecureSkipTlsVerify !== true, serverName: access.tlsServerName } };
  }

  async #material(material: Material, what: string): Promise<string> {
    return 'data' in material ? material.data : this.#file(material.file, what).text();
  }

  #file(path: string, what: string): FreshFile {
    const known = this.#files.get(path) ?? new FreshFile(path, what);
    this.#files.set(path, known);
    return known;
  }
}

/** As client-go encodes keys of extras: bytes that are not allowed in a header name, and the percent sign, like `%2f`. */
function inHeaderName(key: string): string {
  const escaped = (byte: string): string => `%${Buffer.from(byte, 'latin1').toString('hex')}`;
  return Buffer.from(key.toLowerCase())
    .toString('latin1')
    .replaceAll(/[^\w!#$&'*+.^`|~-]/g, escaped);
}

function bearer(text: string, access: ClusterAccess): string {
  const token = text.trim();
  // Other characters would break out of the header, or show that the file is not a token.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new ActionError('use the token of', access.tokenFile ?? access.origin, {
      hint: 'it contains characters that are not allowed in a token',
    });
  }
  return `Bearer ${token}`;
}

/** The certificate, the authorities or the server changed: the watch has to be opened again. */
export class RotatedError extends Error {
  override name = 'RotatedError';
}

interface OpenWatch {
  endpoint: Endpoint;
  end(reason: RotatedError): void;
}

/**
 * Checks the credentials while watches are open, and ends the watches that were opened with others. A quiet node sends no request for minutes; without this
 * check its watch would continue with a revoked certificate.
 */
export class Rotation {
  readonly #credentials: Pick<Credentials, 'identity'>;
  readonly #clock: Clock;
  readonly #everyMs: Millis;
  readonly #open = new Set<OpenWatch>();
  #checking: AbortController | undefined;

  constructor(credentials: Pick<Credentials, 'identity'>, clock: Clock, everyMs: Millis) {
    this.#credentials = credentials;
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Tracks a watch until the result is disposed of. `end` is called at most once. */
  follow(endpoint: Endpoint, end: (reason: RotatedError) => void): Disposable {
    const watch = { endpoint, end };
    this.#open.add(watch);
    if (this.#checking === undefined) {
      this.#checking = new AbortController();
      void this.#checkUntil(this.#checking.signal);
    }
    return {
      [Symbol.dispose]: () => {
        this.#open.delete(watch);
        if (this.#open.size > 0) return;
        this.#checking?.abort();
        this.#checking = undefined;
      },
    };
  }

  async #checkUntil(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      try {
        await this.#clock.sleep(this.#everyMs, stopped);
        const { endpoint } = await this.#credentials.identity();
        for (const watch of this.#open) {
          if (watch.endpoint === endpoint) continue;
          this.#open.delete(watch);
          watch.end(new RotatedError('the credentials changed'));
        }
      } catch {
        // The last watch ended; or the credentials cannot be read, which `Credentials` logs.
      }
    }
  }
}
