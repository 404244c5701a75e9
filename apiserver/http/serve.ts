import { constants } from 'node:http2';
import { halfOf } from '../faults/inject.ts';
import type { Answer } from './api-request.ts';
import { end, readBody, write, writeAnswer } from './exchange.ts';
import type { Incoming, Outgoing } from './listener.ts';
import { replyTo } from './reply.ts';
import type { Server } from './reply.ts';

/** What serving a request over a socket needs besides. */
export interface SocketServer extends Server {
  /** Aborts when the server stops. */
  stopping: AbortSignal;
  /** Resets the connection from a client's port. */
  resetPort(port: number): void;
  /** Lets nothing more come or go on the connection from a client's port. */
  silencePort(port: number): void;
  isSilent(port: number): boolean;
}

/** Answers one request over HTTP, or lets it go wrong as the fault plan says. */
export async function serve(server: SocketServer, incoming: Incoming, response: Outgoing): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.once('error', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, server.stopping]);
  const reply = await replyTo(server, {
    method: incoming.method ?? 'GET',
    url: incoming.url ?? '/',
    header: (name) => String(incoming.headers[name] ?? ''),
    body: () => readBody(incoming),
    signal,
  });
  if (signal.aborted) return;
  // The port is asked of the socket beneath TLS; HTTP/2 shows it through its session.
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
  // One turn for the bytes to leave; then nothing more ever comes.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  cut(response);
}

/** Half of the answer, in a body that says it is whole. */
async function endEarly(response: Outgoing, reply: Answer): Promise<void> {
  const { type, code, bytes } = await halfOf(reply);
  response.statusCode = code;
  response.setHeader('content-type', type);
  end(response, bytes);
}

/** Ends this exchange without an answer: HTTP/2 resets its stream, HTTP/1.1 loses its connection. */
function cut(response: Outgoing): void {
  if ('stream' in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.socket?.destroy();
}
