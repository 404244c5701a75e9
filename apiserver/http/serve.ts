import { constants } from 'node:http2';
import { once } from 'node:events';
import { setImmediate as othersFirst } from 'node:timers/promises';
import { halfOf } from '../faults/plan.ts';
import { replyTo, type Server } from './reply.ts';
import { tooLarge } from '../errors.ts';
import { type Answer, encode, type Line, MAX_BODY_BYTES, piecesOf, textOf } from './message.ts';
import type { Readable } from 'node:stream';
import type { Incoming, Outgoing } from './listener.ts';

/** A server that listens on sockets. */
export interface SocketServer extends Server {
  /** Aborts when the server stops. */
  stopping: AbortSignal;
  /** Resets the connection from this port of a client. */
  resetPort(port: number): void;
  /** Stops all traffic on the connection from this port of a client. */
  silencePort(port: number): void;
  isSilent(port: number): boolean;
}

/** Handles one request over HTTP, or fails it as the fault plan demands. */
export async function serve(server: SocketServer, incoming: Incoming, response: Outgoing): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  response.once('error', () => closed.abort());
  const signal = AbortSignal.any([closed.signal, server.stopping]);
  const reply = await replyTo(server, {
    method: incoming.method ?? 'GET',
    url: incoming.url ?? '/',
    header: (name) => String(incoming.headers[name] ?? ''),
    body: () => readBody(incoming),
    signal,
  });
  if (signal.aborted) return;
  // The port of the TCP socket below TLS; HTTP/2 exposes it through its session.
  const port = incoming.socket.remotePort ?? 0;
  const isSilent = () => server.isSilent(port);
  if (isSilent()) return;
  switch (reply.as) {
    case 'whole':
      return writeAnswer(response, reply.answer, { yaml: reply.yaml, head: incoming.method === 'HEAD', signal, isSilent });
    case 'half':
      return breakOff(response, reply.answer);
    case 'truncate':
      return endEarly(response, reply.answer);
    case 'drop':
      return cut(response);
    case 'reset':
      return server.resetPort(port);
    case 'half-open':
      return server.silencePort(port);
  }
}

async function breakOff(response: Outgoing, reply: Answer): Promise<void> {
  const { type, code, bytes, announced } = await halfOf(reply);
  response.statusCode = code;
  response.setHeader('content-type', type);
  if (announced !== undefined) response.setHeader('content-length', announced);
  write(response, bytes);
  // Wait one turn of the event loop, so that the bytes are sent before the connection is cut.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  cut(response);
}

/** Sends half of the response, in a body that ends as if it were complete. */
async function endEarly(response: Outgoing, reply: Answer): Promise<void> {
  const { type, code, bytes } = await halfOf(reply);
  response.statusCode = code;
  response.setHeader('content-type', type);
  end(response, bytes);
}

/** Ends this exchange without a response: resets the stream (HTTP/2) or closes the connection (HTTP/1.1). */
function cut(response: Outgoing): void {
  if ('stream' in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.socket?.destroy();
}

/** The whole body. @throws StatusError 413 above the limit; the rest of the body is read and discarded, so that the client can read the response */
async function readBody(request: Incoming): Promise<Uint8Array> {
  const declared = Number(request.headers['content-length'] ?? 0);
  const tooMuch = (): Error => tooLarge(`Request entity too large: limit is ${MAX_BODY_BYTES}`);
  if (declared > MAX_BODY_BYTES) throw tooMuch();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const stream = request as Readable;
  for await (const part of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) break;
    parts.push(part);
  }
  if (bytes <= MAX_BODY_BYTES) return Buffer.concat(parts);
  stream.resume();
  throw tooMuch();
}

/** Writes a response. A stream waits for its client after each batch. `signal` aborts when the client disconnects. */
async function writeAnswer(
  response: Outgoing,
  answer: Answer,
  options: { yaml: boolean; head: boolean; signal: AbortSignal; isSilent: () => boolean },
): Promise<void> {
  response.statusCode = answer.code;
  response.setHeader('cache-control', 'no-cache, private');
  if ('stream' in answer) {
    response.setHeader('content-type', answer.type);
    await writeStream(response, answer.stream, options);
    return;
  }
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  const inPieces = 'json' in answer && !options.yaml && !options.head ? piecesOf(answer.json) : undefined;
  if (inPieces !== undefined) {
    response.setHeader('content-type', 'application/json');
    await writePieces(response, inPieces, options.signal);
    return;
  }
  const [type, content] = 'json' in answer ? encode(answer.json, options.yaml) : [answer.type, answer.bytes];
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  response.setHeader('content-type', type);
  response.setHeader('content-length', bytes.length);
  if (options.head) end(response);
  else end(response, bytes);
}

async function writePieces(response: Outgoing, pieces: Iterable<string>, signal: AbortSignal): Promise<void> {
  try {
    for (const piece of pieces) {
      if (signal.aborted) return;
      if (write(response, piece)) await othersFirst();
      else await once(response, 'drain', { signal });
    }
    end(response);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function writeStream(
  response: Outgoing,
  stream: AsyncIterable<readonly Line[]>,
  { signal, isSilent }: { signal: AbortSignal; isSilent: () => boolean },
): Promise<void> {
  flushHead(response);
  try {
    for await (const batch of stream) {
      if (signal.aborted || isSilent()) return;
      if (!write(response, textOf(batch))) await once(response, 'drain', { signal });
    }
    if (!isSilent()) end(response);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

// A cast, since the compiler cannot call the common methods of the two response types.
export function write(response: Outgoing, text: string | Uint8Array): boolean {
  return 'stream' in response ? response.write(text) : response.write(text);
}

export function end(response: Outgoing, bytes: Uint8Array = new Uint8Array()): void {
  if ('stream' in response) response.end(bytes);
  else response.end(bytes);
}

// Headers are sent before the first event, so that the client knows that the watch is open.
function flushHead(response: Outgoing): void {
  if ('stream' in response) response.writeHead(response.statusCode);
  else response.flushHeaders();
}
