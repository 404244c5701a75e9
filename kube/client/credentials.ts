import type { SecureContext } from 'node:tls';
import { ActionError, messageOf } from '../../base/errors.ts';
import { crypto, tls } from './builtins.ts';
import { FreshFile } from '../../base/changing-files.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { AccessSource, ClusterAccess, Material } from './access.ts';

/** Where to connect and as whom. The same object as long as nothing in it changes: another one means another connection. */
export interface Endpoint {
  server: URL;
  tls: { context: SecureContext; verify: boolean; serverName: string | undefined } | undefined;
  /** The way to it, where there is no direct one. */
  proxy?: URL;
}

/** Everything a request needs of {@link ClusterAccess}, fresh from the files. */
export interface Identity {
  endpoint: Endpoint;
  /** Authorization and impersonation. */
  headers: Record<string, string | string[]>;
}

type Pems = { ca?: string | undefined; cert?: string | undefined; key?: string | undefined };

/**
 * What TLS makes of certificates and key.
 * @param action - what they are wanted for, and `object` where they come from, for the error
 * @throws {ActionError} when one of them cannot be used
 */
export function secureContext(pems: Pems, action: string, object: string): SecureContext {
  const { ca, cert, key } = pems;
  try {
    // OpenSSL passes over an authority that it cannot read, and then trusts nobody: a file that is half written would take the place of the good one.
    if (ca !== undefined && !isWholePem(ca)) throw new Error('the certificate authority is no PEM, or is cut off');
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

/** OpenSSL compares a key with a certificate of its own kind alone: to an RSA key beside an EC certificate it says nothing, and then shows no certificate. */
function isOfAnother(cert: string, key: string): boolean {
  const { createPrivateKey, X509Certificate } = crypto();
  try {
    return !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false; // what cannot be read is named by TLS
  }
}

function isWholePem(text: string): boolean {
  const begun = text.match(/-----BEGIN [\w ]+-----/g)?.length ?? 0;
  return begun > 0 && begun === text.match(/-----END [\w ]+-----/g)?.length;
}

/**
 * Turns access into identities, and looks again when files have changed. The first `identity()` fails on anything unreadable; later a rotation
 * caught half-way (certificate new, key still old) leaves the last good identity in force.
 */
export class Credentials {
  readonly #source: AccessSource;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #log: Log;
  readonly #checkEveryMs: number;
  readonly #files = new Map<string, FreshFile>();
  #checkedAt = Number.NEGATIVE_INFINITY;
  #known: Identity | undefined;
  /** What the known endpoint was made of. Holds a private key: for comparing only. */
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

  /** The identity of now, where nothing has to be looked at for it: that is for nearly every request. */
  get fresh(): Identity | undefined {
    return this.#clock.monotonic() - this.#checkedAt < this.#checkEveryMs ? this.#known : undefined;
  }

  /** The identity of now. Files are looked at no more often than `checkEveryMs`, unless `force` says that the server refused what we had. */
  async identity(force = false): Promise<Identity> {
    const { fresh } = this;
    if (!force && fresh !== undefined) return fresh;
    // A check that is under way began before the refusal: credentials are read again after it.
    if (force && this.#checking) await this.#checking.catch(() => undefined);
    this.#checking ??= this.#refresh(force).finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  /** No identity is asked for any more: ends a program that was started for one. */
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

/** As client-go writes keys of extras: bytes that no header's name may have, and the percent sign, as `%2f`. */
function inHeaderName(key: string): string {
  const escaped = (byte: string): string => `%${Buffer.from(byte, 'latin1').toString('hex')}`;
  return Buffer.from(key.toLowerCase())
    .toString('latin1')
    .replaceAll(/[^\w!#$&'*+.^`|~-]/g, escaped);
}

function bearer(text: string, access: ClusterAccess): string {
  const token = text.trim();
  // Anything else would break out of the header, or is a file that is no token at all.
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
 * Looks at the credentials while watches are open, and ends those that were made with others. A quiet node sends no request for minutes; without this
 * look its watch would stay on a certificate that was taken back.
 */
export class Rotation {
  readonly #credentials: Pick<Credentials, 'identity'>;
  readonly #clock: Clock;
  readonly #everyMs: Millis;
  readonly #open = new Set<OpenWatch>();
  #looking: AbortController | undefined;

  constructor(credentials: Pick<Credentials, 'identity'>, clock: Clock, everyMs: Millis) {
    this.#credentials = credentials;
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Counts a watch until it is disposed of. `end` is called at most once. */
  follow(endpoint: Endpoint, end: (reason: RotatedError) => void): Disposable {
    const watch = { endpoint, end };
    this.#open.add(watch);
    if (this.#looking === undefined) {
      this.#looking = new AbortController();
      void this.#look(this.#looking.signal);
    }
    return {
      [Symbol.dispose]: () => {
        this.#open.delete(watch);
        if (this.#open.size > 0) return;
        this.#looking?.abort();
        this.#looking = undefined;
      },
    };
  }

  async #look(stopped: AbortSignal): Promise<void> {
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
        // The last watch ended; or the credentials cannot be read, and they say so themselves.
      }
    }
  }
}
