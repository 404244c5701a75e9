import { ActionError, messageOf } from '../../base/errors.ts';
import { isJsonObject } from '../api/json.ts';
import type { Status } from '../api/object.ts';
import { BrokenConnection } from './connection.ts';
import { DeadlineError } from './limits.ts';

/** The call that failed, as error messages name it. The query is left out: it may be long, and says little. */
export interface Call {
  method: string;
  path: string;
  host: string;
}

// A server's message may have any length; this much of it fits in a log line.
const MAX_MESSAGE_LENGTH = 1_000;

/** The server answered with an error. */
export class ApiError extends Error {
  override name = 'ApiError';
  /** HTTP status: 404, 409, ... */
  readonly code: number;
  /** `metav1.Status.reason`: NotFound, Conflict, ...; derived from the code when the answer was not a Status. */
  readonly reason: string;
  /** The server's own message, without the call around it. At most 1,000 characters. */
  readonly serverMessage: string;
  readonly details: Status['details'];
  /** How long the server asks to wait, in ms. */
  readonly retryAfterMs: number | undefined;
  /** Whether the answer is a Status, from an API server; false for an answer of a proxy in front of one. */
  readonly isStatus: boolean;

  constructor(
    call: Call,
    answer: {
      code: number;
      reason: string;
      message: string;
      /** @default true */
      isStatus?: boolean;
      details?: Status['details'];
      retryAfterMs?: number | undefined;
    },
  ) {
    const said = answer.message.slice(0, MAX_MESSAGE_LENGTH);
    const remedy = remedyFor(answer.code, said);
    super(
      `Cannot ${call.method} ${call.path} at ${call.host}: ${answer.code} ${answer.reason}: ${said}${remedy === '' ? '' : `; ${remedy}`}`,
    );
    this.code = answer.code;
    this.reason = answer.reason;
    this.serverMessage = said;
    this.isStatus = answer.isStatus ?? true;
    this.details = answer.details;
    this.retryAfterMs = answer.retryAfterMs ?? secondsToMs(answer.details?.retryAfterSeconds);
  }
}

/**
 * Why there is no usable answer. unreachable: no connection; tls: one side does not trust the other; timeout: no answer in time; cut: the connection ended
 * before the answer was complete; garbage: an answer that is not Kubernetes; too-large: more bytes or values than the client accepts; closed: the client was
 * closed.
 */
export type TransportProblem = 'unreachable' | 'tls' | 'timeout' | 'cut' | 'garbage' | 'too-large' | 'closed';

/** The server did not answer, or not as a Kubernetes API. A later retry may succeed. */
export class TransportError extends Error {
  override name = 'TransportError';
  readonly problem: TransportProblem;
  constructor(call: Call, problem: TransportProblem, why: { hint: string; cause?: unknown }) {
    super(`Cannot ${call.method} ${call.path} at ${call.host}: ${why.hint}`, 'cause' in why ? { cause: why.cause } : {});
    this.problem = problem;
  }
}

/**
 * The error in a failed answer. Its body may be a Status, HTML of a proxy, or unreadable: HTML and broken JSON are not quoted.
 * @param retryAfterMs - from the `Retry-After` header; takes precedence over the one in the body
 */
export function apiErrorFrom(call: Call, code: number, body: string, retryAfterMs?: number): ApiError {
  const status = parseStatus(body);
  if (status !== undefined) return apiErrorFromStatus(call, status, { code, retryAfterMs });
  const text = body.trim();
  const plain = /^[\x20-\x7e]{1,300}$/.test(text) && !/^[<{[]/.test(text);
  return new ApiError(call, {
    code,
    reason: reasonFor(code),
    message: plain ? text : 'the answer is not a Kubernetes Status',
    isStatus: false,
    retryAfterMs,
  });
}

/** The error in a Status: of a failed answer, or of a watch's ERROR event (which has no HTTP code). */
export function apiErrorFromStatus(
  call: Call,
  status: Partial<Status>,
  http: { code?: number; retryAfterMs?: number | undefined } = {},
): ApiError {
  const inBody = typeof status.code === 'number' && Number.isInteger(status.code) && status.code >= 400 ? status.code : undefined;
  const code = http.code ?? inBody ?? 500;
  const details = isJsonObject(status.details) ? { details: status.details } : {};
  const reason = typeof status.reason === 'string' && status.reason !== '' ? status.reason.slice(0, 100) : reasonFor(code);
  const message = typeof status.message === 'string' ? status.message : '';
  return new ApiError(call, { code, reason, message, ...details, retryAfterMs: http.retryAfterMs });
}

/** Ms in a `Retry-After` header: seconds or a date. undefined when it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000;
  // A date begins with its weekday; Node also parses `-1` and `1.5` as dates, of 2001.
  const at = /^[a-z]/i.test(value.trim()) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.code === 404 || error.reason === 'NotFound');
}

/** The object changed since it was read. An object that exists already has the same code and is {@link isAlreadyExists}. */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409 && error.reason !== 'AlreadyExists';
}

export function isAlreadyExists(error: unknown): error is ApiError {
  return error instanceof ApiError && error.reason === 'AlreadyExists';
}

/** The resource version or continue token is too old: list again. */
export function isExpired(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** The server has not reached the requested resource version: it lags behind, or its store was restored. */
export function isTooNewVersion(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.code !== 504) return false;
  const causes = Array.isArray(error.details?.causes) ? error.details.causes : [];
  return causes.some(({ reason }) => reason === 'ResourceVersionTooLarge') || error.serverMessage.includes('Too large resource version');
}

/** No API server answers: the connection is refused or cut, or a proxy has none behind it. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof TransportError || (error instanceof ApiError && error.code === 503);
}

/** The server rejects the request as invalid: a parameter is unknown or not allowed here. */
export function isInvalidRequest(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.code === 400 || error.code === 422);
}

export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 403;
}

export function isTooManyRequests(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 429;
}

/** A retry does not help: a missing permission, a quota or an admission webhook rejects the request. */
export function isRejected(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code < 500 && error.code !== 401 && !isConflict(error) && !isTooManyRequests(error);
}

/** {@link isRejected}, or a webhook that does not answer, a quota that cannot be counted, a full etcd: an administrator has to act. */
export function isRefused(error: unknown): error is ApiError {
  return isRejected(error) || (error instanceof ApiError && error.code === 500 && error.isStatus && isRefusal(error));
}

/**
 * Whether a failed call may have taken effect on the server. Pure.
 *
 * | error | |
 * | --- | --- |
 * | a rejection (any code below 500; AlreadyExists with any code) | no |
 * | 500 with or without a Status, 503 in a Status: a webhook, a quota, a full etcd; nothing was stored | no |
 * | 500 with an error of etcd whose answer to the server was lost | perhaps |
 * | 503 without a Status, 504, any other 5xx: a proxy in front of the server, or the server stopped waiting | perhaps |
 * | the deadline passed before the request was sent | no |
 * | no connection was made, or it broke before the request was sent; the client was closed before | no |
 * | {@link ActionError}: the request could not be built | no |
 * | no answer in time, one that was cut, too large or not Kubernetes; aborted by the caller; any other error | perhaps |
 */
export function mayHaveTakenEffect(error: unknown): boolean {
  if (error instanceof ApiError) return error.code >= 500 && !isAlreadyExists(error) && !isRefusal(error);
  if (error instanceof ActionError) return false;
  // The state of the connection is more reliable than the error code: a socket's ETIMEDOUT occurs before and after the request.
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof BrokenConnection) return at.reached === 'perhaps';
    if (at instanceof DeadlineError && at.neverSent) return false;
  }
  return !(error instanceof TransportError) || !beforeRequest.has(error.problem);
}

/** Errors of etcd, and of the connection to it, that kube-apiserver passes on unchanged. When a webhook timed out, other words precede them. */
const LOST_BEHIND_SERVER = /^(rpc error: |context |etcdserver: (request timed out|leader changed|server stopped))/;

function isRefusal({ code, serverMessage, isStatus }: ApiError): boolean {
  if (code === 500) return !LOST_BEHIND_SERVER.test(serverMessage);
  return code === 503 && isStatus;
}

const beforeRequest: ReadonlySet<TransportProblem> = new Set(['unreachable', 'tls', 'closed']);

/** How long the server asks to wait, in ms, if it does. */
export function retryAfterOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.retryAfterMs : undefined;
}

function parseStatus(body: string): Partial<Status> | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isJsonObject(parsed)) return undefined;
    // kube-apiserver omits the kind when a request timed out.
    return parsed['kind'] === 'Status' || (parsed['kind'] === undefined && parsed['status'] === 'Failure') ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function reasonFor(code: number): string {
  if (code >= 300 && code < 400) return 'Redirect';
  return reasons[code] ?? 'Unknown';
}

/** Matches RBAC's message, and none of a webhook, policy or quota, where another permission does not help. */
const MISSES_RIGHT = /\bcannot \S+ (resource|path)\b/;

function remedyFor(code: number, message: string): string {
  if (code >= 300 && code < 400) return 'redirects are not followed; the server in the kubeconfig must be the API server itself';
  if (code === 401) return 'check the token or client certificate of the kubeconfig';
  if (code === 403 && MISSES_RIGHT.test(message)) return 'grant this identity the right with RBAC';
  if (code === 429 || code === 503) return 'the server is busy or not ready; try again later';
  return '';
}

function secondsToMs(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
}

/** The server's message without the call, which is for logs; of any other error its message. For events and conditions. */
export function serverMessageOf(error: unknown): string {
  return error instanceof ApiError ? error.serverMessage : messageOf(error);
}
