import { Agent as PlainAgent } from 'node:http';
import { Agent as SecureAgent, type AgentOptions } from 'node:https';
import { FreshFile } from '../../kube/client/fresh-file.ts';
import type { ExtenderConfig } from '../config/config.ts';

/** Connections to one extender at once; a call beyond them waits for one to be free. */
const MAX_SOCKETS = 64;
const pool: AgentOptions = { keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: 8, scheduling: 'lifo' };

type TlsConfig = ExtenderConfig['tls'];

/** The connections of an extender. Certificates in files are read again when they change: new connections show the new ones. */
export class Agents {
  readonly #config: ExtenderConfig;
  readonly #files: { ca: FreshFile | undefined; cert: FreshFile | undefined; key: FreshFile | undefined };
  #agent: PlainAgent | undefined;
  #material = '';

  constructor(config: ExtenderConfig) {
    this.#config = config;
    const { caFile, certFile, keyFile, caData, certData, keyData } = config.tls;
    const file = (data: string | undefined, path: string | undefined, what: string): FreshFile | undefined =>
      data === undefined && path !== undefined ? new FreshFile(path, what) : undefined;
    this.#files = {
      ca: file(caData, caFile, 'authority file of an extender'),
      cert: file(certData, certFile, 'certificate file of an extender'),
      key: file(keyData, keyFile, 'key file of an extender'),
    };
  }

  /** @throws {ActionError} when a file was never readable */
  async current(): Promise<PlainAgent> {
    if (!this.#config.urlPrefix.startsWith('https:')) return (this.#agent ??= new PlainAgent(pool));
    const { caData, certData, keyData } = this.#config.tls;
    const [ca = caData, cert = certData, key = keyData] = await Promise.all([
      this.#files.ca?.text(),
      this.#files.cert?.text(),
      this.#files.key?.text(),
    ]);
    const material = JSON.stringify([ca, cert, key]);
    if (this.#agent !== undefined && material === this.#material) return this.#agent;
    retire(this.#agent);
    this.#material = material;
    const { tls, enableHttps } = this.#config;
    this.#agent = new SecureAgent({
      ...pool,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
      rejectUnauthorized: !trustsAnybody(tls, enableHttps, ca),
    });
    return this.#agent;
  }

  /** Calls under way fail. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }
}

/** With `enableHTTPS` and no authority there is nothing to prove a certificate with: kube-scheduler takes any then, and configurations count on it. */
function trustsAnybody({ insecure }: TlsConfig, enableHttps: boolean, ca: string | undefined): boolean {
  return insecure || (enableHttps && ca === undefined);
}

/** Calls under way come to their end; nothing new is sent. */
function retire(agent: PlainAgent | undefined): void {
  if (agent === undefined) return;
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
