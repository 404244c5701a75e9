import { unreachable } from '../../base/errors.ts';
import { aborted } from '../../base/waiting.ts';
import { answer, type Api, failure, route } from '../api.ts';
import type { Authenticator, User } from '../auth/authenticate.ts';
import { type FaultPlan, type FaultTarget, expiredAnswer, injectedError, withEventFaults } from '../faults/plan.ts';
import { type Fault, STALE_VERSIONS } from '../faults/fault.ts';
import { mayBeStale } from '../handlers/context.ts';
import { type Answer, type ApiRequest, formatOf, isTrue, type ResourceRequest } from './message.ts';

/** What handling a request needs. */
export interface Server {
  api: Api;
  authenticator: Authenticator;
  faults: FaultPlan;
}

/** One request, independent of its transport. */
export interface Exchange {
  method: string;
  /** With the query, still percent-encoded. */
  url: string;
  /** '' if the header is absent. */
  header: (name: string) => string;
  body(): Promise<Uint8Array> | Uint8Array;
  /** Aborts when the client disconnects or the server stops. */
  signal: AbortSignal;
}

/**
 * Result of a request: a response that is written whole, cut off after `half`, or ended after half without an error (`truncate`); or no response, because
 * the exchange is dropped (`drop`), or the connection is reset (`reset`) or silenced (`half-open`).
 */
export type Reply =
  { as: 'whole' | 'half' | 'truncate'; answer: Answer; yaml: boolean } | { as: 'drop' } | { as: 'reset' } | { as: 'half-open' };

/** Handles a request, or fails it as the fault plan demands. Never throws. */
export async function replyTo(server: Server, exchange: Exchange): Promise<Reply> {
  const request = apiRequest(exchange);
  const { api, faults } = server;
  const { clock } = api.context;
  const { signal } = exchange;
  let yaml = false;
  try {
    if (!isPublic(request.path)) request.user = server.authenticator.user(request.header('authorization'));
    const resource = route(request);
    const given = exchange.body();
    const body = given instanceof Uint8Array ? given : await given;
    yaml = resource !== undefined && formatOf(request.header('accept')).yaml;
    const target = targetOf(request, resource);
    const fault = faults.match(target);
    if (fault?.action === 'delay') await clock.sleep(fault.ms, signal);
    const reply = fault === undefined ? undefined : await failed(fault, api, target.verb, signal);
    if (reply !== undefined) return { ...reply, ...('answer' in reply ? { yaml } : {}) };
    if (fault?.action === 'stale') request.staleBy = fault.versions ?? STALE_VERSIONS;
    const as = fault?.action === 'half' || fault?.action === 'truncate' ? fault.action : 'whole';
    const done = answer(api, request, resource, body);
    // A response that breaks off gets no event faults too: breaking off between two reordered events would lose an event.
    if (!('stream' in done) || as !== 'whole') return { as, answer: done, yaml };
    return { as, answer: { ...done, stream: withEventFaults(done.stream, faults, target, clock, signal) }, yaml };
  } catch (error) {
    if (signal.aborted) return { as: 'drop' };
    return { as: 'whole', answer: failure(error, api.log), yaml };
  }
}

/** The result of faults that replace the request; undefined for faults that let the request be handled. */
async function failed({ action }: Fault, api: Api, verb: string, signal: AbortSignal): Promise<Reply | undefined> {
  if (typeof action === 'object') return { as: 'whole', answer: failure(injectedError(action), api.log), yaml: false };
  switch (action) {
    case 'drop':
    case 'reset':
    case 'half-open':
      return { as: action };
    case 'hang':
      await aborted(signal);
      return { as: 'drop' };
    case 'gone':
      return { as: 'whole', answer: expiredAnswer(verb), yaml: false };
    case 'half':
    case 'truncate':
    case 'delay':
    case 'stale':
    case 'duplicate':
    case 'reorder':
    case 'early-gone':
    case 'lag':
      return undefined;
    default:
      return unreachable(action);
  }
}

function apiRequest({ method, url, header, signal }: Exchange): ApiRequest {
  const at = url.indexOf('?');
  return {
    method,
    path: at === -1 ? url : url.slice(0, at),
    query: new URLSearchParams(at === -1 ? '' : url.slice(at + 1)),
    header,
    user: anonymous,
    signal,
  };
}

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

// As on a real server, probes need no token.
function isPublic(path: string): boolean {
  return ['/healthz', '/livez', '/readyz'].includes(path);
}

function targetOf(request: ApiRequest, resource: ResourceRequest | undefined): FaultTarget {
  if (resource === undefined) return { verb: request.method.toLowerCase(), resource: request.path, subresource: '', name: '' };
  const { verb, subresource, name } = resource;
  return { verb, resource: resource.resource, subresource, name, mayBeStale: readsCache(verb, request.query) };
}

function readsCache(verb: string, query: URLSearchParams): boolean {
  if (verb === 'get' || verb === 'list') return mayBeStale(query);
  return verb === 'watch' && mayBeStale(query) && (query.get('resourceVersion') === '0' || isTrue(query.get('sendInitialEvents')));
}
