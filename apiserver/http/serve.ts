import { constants } from 'node:http2';
import { unreachable } from '../../base/errors.ts';
import { answer, failure, route } from '../api.ts';
import type { Api } from '../api.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { User } from '../auth/user.ts';
import type { Fault } from '../faults/fault.ts';
import { goneAnswer, halfOf, injectedError } from '../faults/inject.ts';
import type { FaultPlan, FaultTarget } from '../faults/plan.ts';
import { formatOf } from './accept.ts';
import type { Answer, ApiRequest, ResourceRequest } from './api-request.ts';
import { readBody, write, writeAnswer } from './exchange.ts';
import type { Incoming, Outgoing } from './listener.ts';

/** What serving a request needs. */
export interface Server {
  api: Api;
  authenticator: Authenticator;
  faults: FaultPlan;
  /** Aborts when the server stops. */
  stopping: AbortSignal;
  /** Resets the connection from a client's port. */
  resetPort(port: number): void;
}

/** Answers one request over HTTP, or lets it go wrong as the fault plan says. */
export async function serve(server: Server, incoming: Incoming, response: Outgoing): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.once('error', () => gone.abort());
  const request = apiRequest(incoming, AbortSignal.any([gone.signal, server.stopping]));
  const { signal } = request;
  let reply: Answer;
  let yaml = false;
  let fault: Fault | undefined;
  try {
    if (!isPublic(request.path)) request.user = server.authenticator.user(request.header('authorization'));
    const resource = route(request);
    const body = await readBody(incoming);
    yaml = resource !== undefined && formatOf(request.header('accept')).yaml;
    fault = server.faults.match(target(request, resource));
    if (fault?.action === 'delay') await server.api.context.clock.sleep(fault.ms, signal);
    if (fault !== undefined && (await fails(server, fault, incoming, response, signal))) return;
    reply = fault ? faulty(server.api, fault, request, resource, body) : answer(server.api, request, resource, body);
  } catch (error) {
    if (signal.aborted) return;
    reply = failure(error, server.api.log);
  }
  if (fault?.action === 'half') await breakOff(response, reply);
  else await writeAnswer(response, reply, { yaml, head: incoming.method === 'HEAD', signal });
}

function apiRequest(incoming: Incoming, signal: AbortSignal): ApiRequest {
  const url = incoming.url ?? '/';
  const at = url.indexOf('?');
  return {
    method: incoming.method ?? 'GET',
    path: at === -1 ? url : url.slice(0, at),
    query: new URLSearchParams(at === -1 ? '' : url.slice(at + 1)),
    header: (name) => String(incoming.headers[name] ?? ''),
    user: anonymous,
    signal,
  };
}

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

// As on a real server, probes need no token.
function isPublic(path: string): boolean {
  return ['/healthz', '/livez', '/readyz'].includes(path);
}

function target(request: ApiRequest, resource: ResourceRequest | undefined): FaultTarget {
  return resource ?? { verb: request.method.toLowerCase(), resource: request.path, subresource: '', name: '' };
}

/** Faults after which there is no answer at all. */
async function fails(server: Server, fault: Fault, incoming: Incoming, response: Outgoing, signal: AbortSignal): Promise<boolean> {
  const { action } = fault;
  if (typeof action === 'object') return false;
  switch (action) {
    case 'drop':
      cut(response);
      return true;
    case 'reset':
      // The port is asked of the socket beneath TLS; HTTP/2 shows it through its session.
      server.resetPort(incoming.socket.remotePort ?? 0);
      return true;
    case 'hang':
      await aborted(signal);
      return true;
    case 'half':
    case 'gone':
    case 'delay':
      return false;
    default:
      return unreachable(action);
  }
}

function faulty(api: Api, { action }: Fault, request: ApiRequest, resource: ResourceRequest | undefined, body: Uint8Array): Answer {
  if (typeof action === 'object') return failure(injectedError(action.status), api.log);
  switch (action) {
    case 'gone':
      return goneAnswer(resource?.verb ?? '');
    case 'half':
    case 'delay':
    case 'drop':
    case 'hang':
    case 'reset':
      return answer(api, request, resource, body);
    default:
      return unreachable(action);
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

/** Ends this exchange without an answer: HTTP/2 resets its stream, HTTP/1.1 loses its connection. */
function cut(response: Outgoing): void {
  if ('stream' in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.socket?.destroy();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
