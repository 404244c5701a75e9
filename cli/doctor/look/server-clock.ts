import { Unseen } from '../check.ts';
import { http, https } from '../../../kube/client/builtins.ts';
import { textOf } from './credentials.ts';
import type { Millis } from '../../../base/clock.ts';
import type { ClusterAccess } from '../../../kube/client/access.ts';

const TIMEOUT_MS: Millis = 5000;

/**
 * An API server's clock less ours, in ms, by the Date of an answer. Asked without credentials: also a refusal has a date.
 * @throws Unseen through a proxy, which may answer with a date of its own; the socket's error
 */
export async function aheadOf(access: ClusterAccess, signal: AbortSignal): Promise<Millis> {
  if (access.proxy !== undefined) throw new Unseen('the API server is behind a proxy');
  const ca = access.ca === undefined ? undefined : await textOf(access.ca);
  const url = new URL('version', access.server.endsWith('/') ? access.server : `${access.server}/`);
  const from = Date.now();
  const date = await dateOf(url, signal, {
    ...(ca === undefined ? {} : { ca }),
    ...(access.tlsServerName === undefined ? {} : { servername: access.tlsServerName }),
    rejectUnauthorized: access.insecureSkipTlsVerify !== true,
  });
  // A date has whole seconds: half of one is the middle of what it may mean.
  return date + 500 - (from + Date.now()) / 2;
}

function dateOf(url: URL, signal: AbortSignal, tls: { ca?: string; servername?: string; rejectUnauthorized: boolean }): Promise<Millis> {
  const options = { ...tls, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]), agent: false };
  return new Promise((resolve, reject) => {
    const asked = (url.protocol === 'https:' ? https() : http()).get(url, options, (answer) => {
      answer.destroy();
      const date = Date.parse(answer.headers.date ?? '');
      if (Number.isNaN(date)) reject(new Unseen('the API server sends no date'));
      else resolve(date);
    });
    asked.on('error', reject);
  });
}
