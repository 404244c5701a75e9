import { request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Clock, Millis } from '../../base/clock.ts';
import { errorCode } from '../../base/errors.ts';
import { Deadline } from '../../kube/client/deadline.ts';
import type { Agents } from './agents.ts';
import { AnswerError } from './fields.ts';

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
  /** For everything, to the last byte of the answer. */
  timeoutMs: Millis;
  /** Largest answer, in bytes. */
  mostBytes: number;
  /** It may be sent again where the connection turns out to be one that the server had given up. */
  again: boolean;
  signal: AbortSignal;
}

/**
 * Posts JSON, and reads the JSON of the answer.
 * @throws {StatusError}; whatever kept the answer away: a socket's error, DeadlineError, {@link AnswerError}; the signal's reason
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

/** What is no JSON is not repeated: it may be a page of some proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AnswerError('the answer is no JSON');
  }
}

async function exchange(posting: Posting, signal: AbortSignal): Promise<string> {
  const { agents, url, body, again, mostBytes } = posting;
  const send = url.startsWith('https:') ? secureRequest : plainRequest;
  const bytes = Buffer.from(body);
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json', 'Content-Length': bytes.length };
  for (let left = again ? 1 : 0; ; left--) {
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
    // Stays on: an error after the answer has begun is the reader's, and must not end the process.
    call.on('response', resolve).on('error', reject).end(body);
  });
}

async function read(answer: IncomingMessage, mostBytes: number): Promise<string> {
  if (answer.statusCode !== 200) throw new StatusError(answer.statusCode ?? 0);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) throw new AnswerError(`the answer has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
