import type { TLSSocket } from 'node:tls';
import { Unseen } from '../check.ts';
import { http, https } from '../../../kube/client/builtins.ts';
import { textOf } from './credentials.ts';
import type { Millis } from '../../../base/clock.ts';
import type { ClusterAccess } from '../../../kube/client/access.ts';

const TIMEOUT_MS: Millis = 5000;

/** What an answer of an API server says beside its content. */
export interface Hello {
  /** The clock of the server less ours, by the Date of the answer. */
  aheadMs: Millis;
  /** Of the server; null without TLS. */
  certificate: { notBefore: Millis; notAfter: Millis } | null;
}

/**
 * Asks without credentials: also a refusal has a date.
 * @throws Unseen through a proxy, which may answer with a date of its own; the socket's error
 */
export async function helloOf(access: ClusterAccess, signal: AbortSignal): Promise<Hello> {
  if (access.proxy !== undefined) throw new Unseen('the API server is behind a proxy');
  const ca = access.ca === undefined ? undefined : await textOf(access.ca);
  const url = new URL('version', access.server.endsWith('/') ? access.server : `${access.server}/`);
  const from = Date.now();
  const { date, certificate } = await answerOf(url, signal, {
    ...(ca === undefined ? {} : { ca }),
    ...(access.tlsServerName === undefined ? {} : { servername: access.tlsServerName }),
    rejectUnauthorized: access.insecureSkipTlsVerify !== true,
  });
  // A date has whole seconds: half of one is the middle of what it may mean.
  return { aheadMs: date + 500 - (from + Date.now()) / 2, certificate };
}

function answerOf(
  url: URL,
  signal: AbortSignal,
  tls: { ca?: string; servername?: string; rejectUnauthorized: boolean },
): Promise<{ date: Millis; certificate: Hello['certificate'] }> {
  const options = { ...tls, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]), agent: false };
  return new Promise((resolve, reject) => {
    const asked = (url.protocol === 'https:' ? https() : http()).get(url, options, (answer) => {
      const certificate = certificateOf(answer.socket);
      answer.destroy();
      const date = Date.parse(answer.headers.date ?? '');
      if (Number.isNaN(date)) reject(new Unseen('the API server sends no date'));
      else resolve({ date, certificate });
    });
    asked.on('error', reject);
  });
}

function certificateOf(socket: object): Hello['certificate'] {
  if (!('getPeerCertificate' in socket)) return null;
  const { valid_from: from, valid_to: to } = (socket as TLSSocket).getPeerCertificate();
  return { notBefore: Date.parse(from), notAfter: Date.parse(to) };
}
