import { request as plainRequest, Agent as PlainAgent, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as secureRequest, Agent as SecureAgent, type AgentOptions } from 'node:https';
import type { Clock, Millis } from '../../base/clock.ts';
import { errorCode } from '../../base/errors.ts';
import { secureContext } from '../../kube/client/credentials.ts';
import { Deadline } from '../../kube/client/limits.ts';
import { AnswerError } from './protocol.ts';
import { FreshFile } from '../../base/changing-files.ts';
import type { ExtenderConfig } from '../config/config.ts';

/** The answer has a status other than 200. */
export class StatusError extends Error {
  override name = 'StatusError';
  readonly code: number;
  constructor(code: number) {
    super(`code ${code}`);
    this.code = code;
  }
}

export interface Posting {
  agents: Agents;
  url: string;
  body: string;
  clock: Clock;
  /** For the whole call, to the last byte of the response. */
  timeoutMs: Millis;
  /** Largest answer, in bytes. */
  mostBytes: number;
  /** Whether the request may be resent if the server had already closed the reused connection. */
  retry: boolean;
  signal: AbortSignal;
}

/**
 * Posts JSON, and reads the JSON of the answer.
 * @throws {StatusError}, a socket's error, DeadlineError, {@link AnswerError}, or the signal's reason
 */
export async function postJson(posting: Posting): Promise<unknown> {
  using deadline = new Deadline(posting.clock, posting.timeoutMs, posting.signal);
  try {
    return parse(await exchange(posting, deadline.signal));
  } catch (error) {
    deadline.signal.throwIfAborted();
    throw error;
  }
}

/** The error does not quote text that is not JSON: it may be a page of some proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AnswerError('the response is not JSON');
  }
}

async function exchange(posting: Posting, signal: AbortSignal): Promise<string> {
  const { agents, url, body, retry, mostBytes } = posting;
  const send = url.startsWith('https:') ? secureRequest : plainRequest;
  const bytes = Buffer.from(body);
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json', 'Content-Length': bytes.length };
  for (let left = retry ? 1 : 0; ; left--) {
    const agent = await agents.current();
    signal.throwIfAborted();
    const call = send(url, { method: 'POST', agent, headers, signal });
    try {
      const answer = await answered(call, bytes);
      return await read(answer, mostBytes);
    } catch (error) {
      call.destroy();
      if (left <= 0 || !call.reusedSocket || errorCode(error) !== 'ECONNRESET' || signal.aborted) throw error;
    }
  }
}

function answered(call: ClientRequest, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // The handler stays: the reader gets an error that follows the start of the response, and it must not end the process.
    call.on('response', resolve).on('error', reject).end(body);
  });
}

async function read(answer: IncomingMessage, mostBytes: number): Promise<string> {
  if (answer.statusCode !== 200) throw new StatusError(answer.statusCode ?? 0);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) throw new AnswerError(`the response has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Maximum number of connections to one extender; further calls wait for a free one. */
const MAX_SOCKETS = 64;
const pool: AgentOptions = { keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: 8, scheduling: 'lifo' };

type TlsConfig = ExtenderConfig['tls'];

/** The connections of an extender. Certificate files are read again when they change: new connections use the new content. */
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
      ca: file(caData, caFile, 'CA file of an extender'),
      cert: file(certData, certFile, 'certificate file of an extender'),
      key: file(keyData, keyFile, 'key file of an extender'),
    };
  }

  /** @throws {ActionError} when a file was never readable, or TLS cannot use what is in it */
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
    const { tls, enableHttps, urlPrefix } = this.#config;
    const context = secureContext({ ca, cert, key }, 'use the tlsConfig of the extender', urlPrefix);
    retire(this.#agent);
    this.#material = material;
    this.#agent = new SecureAgent({
      ...pool,
      secureContext: context,
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
      rejectUnauthorized: !trustsAnybody(tls, enableHttps, ca),
    });
    return this.#agent;
  }

  /** Calls in flight fail. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }
}

/** With `enableHTTPS` and without a CA, any certificate is accepted, as in kube-scheduler: existing configurations rely on that. */
function trustsAnybody({ insecure }: TlsConfig, enableHttps: boolean, ca: string | undefined): boolean {
  return insecure || (enableHttps && ca === undefined);
}

/** Calls in flight complete; idle connections are closed. */
function retire(agent: PlainAgent | undefined): void {
  if (agent === undefined) return;
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
