import { ActionError, errorCode } from '../../base/errors.ts';
import { BrokenConnection, ProxyError } from './connection.ts';
import { DeadlineError } from './deadline.ts';
import { ApiError, TransportError } from './errors.ts';
import { ClosedError } from './transport.ts';
import type { Call, TransportProblem } from './errors.ts';

/**
 * What a failed call throws: errors that already say everything stay as they are, everything below them becomes a TransportError with a remedy.
 * @param signal - the caller's; once it aborted its reason is the answer
 */
export function transportErrorFrom(error: unknown, call: Call, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof ApiError || error instanceof TransportError || error instanceof ActionError) return error;
  if (error instanceof ClosedError) return new TransportError(call, 'closed', { hint: 'the client was closed', cause: error });
  if (error instanceof DeadlineError) {
    return new TransportError(call, 'timeout', {
      hint: error.neverSent ? error.message : `${error.message}; the server is overloaded, or packets are lost on the way`,
      cause: error,
    });
  }
  const { problem, hint } = explain(error);
  return new TransportError(call, problem, { hint, cause: error });
}

/** By the first system or TLS error code in the chain of causes. */
function explain(error: unknown): { problem: TransportProblem; hint: string } {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof ProxyError) return { problem: 'unreachable', hint: `${at.message}; check proxy-url and the proxy variables` };
    const code = errorCode(at) ?? firstCodeOf(at);
    if (code === undefined) continue;
    if (isTrustProblem(code))
      return { problem: 'tls', hint: `its certificate is not trusted (${code}); check certificate-authority and the server's name` };
    if (/CERTIFICATE_REQUIRED|ALERT_(BAD|UNKNOWN|UNSUPPORTED)_C|ALERT_CERTIFICATE/.test(code)) {
      return { problem: 'tls', hint: `it rejected the client certificate (${code}); renew it` };
    }
    if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS') || code === 'EPROTO') {
      return { problem: 'tls', hint: `TLS failed (${code}); is this port really an HTTPS one?` };
    }
    if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_|EADDRNOTAVAIL|EACCES|EPERM)/.test(code)) {
      return { problem: 'unreachable', hint: `cannot connect (${code}); check the server's address, and that it runs` };
    }
    if (/^(ECONNRESET|EPIPE|ERR_HTTP2|HPE_|ERR_STREAM_PREMATURE_CLOSE)/.test(code)) break;
  }
  if (error instanceof BrokenConnection)
    return { problem: 'cut', hint: `${error.message}; the server closed the connection, or is not an API server` };
  return { problem: 'unreachable', hint: "cannot connect; check the server's address, and that it runs" };
}

/** A host with several addresses fails with one error per address. */
function firstCodeOf(error: Error): string | undefined {
  return error instanceof AggregateError ? error.errors.map(errorCode).find((code) => code !== undefined) : undefined;
}

function isTrustProblem(code: string): boolean {
  return /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_|ALTNAME_INVALID|INVALID_CA|CERT_UNTRUSTED/.test(code);
}
